Error.prototype.toString = () => { while (true) {} };
Object.defineProperty(Error.prototype, 'stack', { get() { while (true) {} } });
null.x;
