// ends: error RangeError
let deep = {};
for (let n = 0; n < 1000; n += 1) deep = { deep };
FINAL(deep);
