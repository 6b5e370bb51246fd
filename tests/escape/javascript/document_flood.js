const odd = new Document(-1, { name: 'x', length: 5, lines: 1 });
while (true) { try { odd.chunks({ by: 'chars', size: 1 }); } catch {} }
