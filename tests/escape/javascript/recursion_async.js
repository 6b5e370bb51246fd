async function again() { return await again(); }
await again();
