const odd = { get x() { while (true) {} } };
odd
