let n = 1n << 100n;
const kept = [];
while (true) { n *= 3n; kept.push(n); }
