let odd = () => 1;
for (let n = 0; n < 1000000; n += 1) odd = odd.bind(null);
odd();
