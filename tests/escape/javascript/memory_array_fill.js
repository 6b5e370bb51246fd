new Array(2 ** 28).fill(0);
