Object.defineProperty(Error, Symbol.hasInstance, { value: () => { while (true) {} } });
null.x;
