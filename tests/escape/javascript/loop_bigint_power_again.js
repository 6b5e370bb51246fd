let n = 3n;
while (true) n = n * n;
