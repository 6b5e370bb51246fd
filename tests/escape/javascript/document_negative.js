new Document(-5, { name: 'x', length: 5, lines: 1 }).slice(0, 5);
