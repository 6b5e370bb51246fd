const before = Date.now();
for (let n = 0; n < 1e6; n += 1);
Date.now() === before ? 'held' : 'ESCAPED'
