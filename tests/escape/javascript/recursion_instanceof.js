class Odd { static [Symbol.hasInstance](x) { return x instanceof Odd; } }
({}) instanceof Odd;
