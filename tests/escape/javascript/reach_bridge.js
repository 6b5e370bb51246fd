const found = Object.getOwnPropertyNames(globalThis).filter((name) => /host|engine|bridge|__/i.test(name));
found.some((name) => typeof globalThis[name] === 'function') ? `ESCAPED ${found}` : 'held'
