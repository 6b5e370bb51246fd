Object.defineProperty(RegExp.prototype, Symbol.split, { value: () => { while (true) {} } });
Object.defineProperty(RegExp.prototype, 'test', { value: () => { throw 1; } });
({ a: 1 })
