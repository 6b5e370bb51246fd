FINAL(new Array(3000000).fill([]));
