Object.setPrototypeOf(globalThis, new Proxy({}, { get() { while (true) {} }, has() { return true; } }));
notThere;
