new Document(-1, { name: 'x', length: 5, lines: 1 }).ask('__init__', 'x');
