// ends: error OutOfMemory | killed
var kept = new Map();
for (let n = 0; ; n += 1) kept.set('name ' + n, String(n));
