class Odd { constructor() { new this.constructor(); } }
new Odd();
