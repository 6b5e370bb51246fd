let odd = {};
for (let n = 0; n < 1000000; n += 1) odd = new Proxy(odd, {});
odd.x;
