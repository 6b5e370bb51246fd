const odd = [];
odd.push(odd);
FINAL(odd);
