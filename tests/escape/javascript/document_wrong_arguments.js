new Document(10 ** 9, { name: 'x', length: 5, lines: 1 }).slice(0, 5);
