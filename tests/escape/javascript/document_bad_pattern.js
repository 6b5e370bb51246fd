new Document(-1, { name: 'x', length: 5, lines: 1 }).grep('('.repeat(10000));
