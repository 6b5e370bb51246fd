function* nest(inner) { yield* inner; }
let odd = [1];
for (let n = 0; n < 200000; n += 1) odd = nest(odd);
[...odd];
