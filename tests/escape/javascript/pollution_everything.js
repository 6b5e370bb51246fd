for (const name of Object.getOwnPropertyNames(globalThis)) { try { const odd = globalThis[name]; if (odd?.prototype) for (const each of Object.getOwnPropertyNames(odd.prototype)) { try { odd.prototype[each] = () => { throw 1; }; } catch {} } } catch {} }
1
