const found = [];
for (const name of Object.getOwnPropertyNames(globalThis)) { try { found.push(String(globalThis[name])); } catch {} }
found.join().includes('TERCES') ? 'ESCAPED' : 'held'
