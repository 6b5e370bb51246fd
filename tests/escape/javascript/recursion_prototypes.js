let odd = {};
for (let n = 0; n < 1000000; n += 1) odd = Object.create(odd);
odd.x;
