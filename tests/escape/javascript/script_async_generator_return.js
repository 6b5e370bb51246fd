async function* odd() { try { yield 1; } finally { while (true) {} } }
for await (const _ of odd()) break;
