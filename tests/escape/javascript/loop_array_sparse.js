const odd = [];
odd[4294967294] = 1;
odd.reduce((a, b) => a + b, 0);
odd.reverse();
