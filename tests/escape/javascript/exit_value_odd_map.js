class Odd extends Map { [Symbol.iterator]() { throw 1; } }
new Odd([[1, 2]])
