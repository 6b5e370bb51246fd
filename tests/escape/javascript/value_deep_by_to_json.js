// ends: error
class Odd { toJSON() { return { more: new Odd() }; } }
FINAL(new Odd());
