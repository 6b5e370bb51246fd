const odd = new Error('x');
odd.name = { toString() { throw 1; } };
odd.message = Symbol('y');
throw odd;
