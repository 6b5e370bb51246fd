Object.defineProperty(Function.prototype, Symbol.hasInstance, { value: () => { while (true) {} } });
Function.prototype.bind = Function.prototype.toString = () => { while (true) {} };
null.x;
