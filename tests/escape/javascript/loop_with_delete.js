const odd = {};
while (true) { odd.x = 1; delete odd.x; }
