Object.freeze(globalThis);
1
