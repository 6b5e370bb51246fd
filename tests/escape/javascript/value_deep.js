let odd = [];
for (let n = 0; n < 5000; n += 1) odd = [odd];
FINAL(odd);
