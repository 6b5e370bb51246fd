let odd = null;
for (let n = 0; n < 3000000; n += 1) odd = { odd };
odd = null;
