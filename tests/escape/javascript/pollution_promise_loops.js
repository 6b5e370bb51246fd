Object.defineProperty(Promise.prototype, 'constructor', { get() { while (true) {} } });
1
