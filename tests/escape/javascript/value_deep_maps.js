// ends: error
let deep = new Map();
for (let n = 0; n < 1000; n += 1) deep = new Map([[1, new Set([deep])]]);
FINAL(deep);
