throw new Proxy({}, { getPrototypeOf() { throw 1; }, get() { throw 2; } });
