function again(n) { return again(n + 1) + 1; }
again(0);
