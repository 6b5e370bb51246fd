FINAL(Symbol('x'));
