globalThis['\ud800'] = globalThis[''] = globalThis['__proto__x'] = 1;
Object.keys(globalThis)
