async function again() { while (true) await null; }
await again();
