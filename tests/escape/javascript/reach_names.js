const wanted = ['process', 'Deno', 'Bun', 'std', 'os', 'scriptArgs', 'fetch', 'XMLHttpRequest', 'WebSocket', 'Worker', 'require', 'load', 'loadScript', 'read', 'readFile', 'system', 'quit', 'WebAssembly', 'Java', 'navigator'];
const found = wanted.filter((name) => name in globalThis);
found.length ? `ESCAPED ${found}` : 'held'
