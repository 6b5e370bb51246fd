Object.preventExtensions(globalThis);
1
