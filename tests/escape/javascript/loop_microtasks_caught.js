async function again() { while (true) { try { await null; } catch {} } }
again();
again();
1
