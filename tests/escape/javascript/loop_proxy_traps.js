const odd = new Proxy({}, { get() { while (true) {} }, ownKeys() { while (true) {} }, has() { while (true) {} } });
odd
