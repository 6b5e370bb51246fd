FINAL(new Proxy({ a: 1 }, { ownKeys: () => ['a', 'b', 'c'], getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }) }));
