Object.setPrototypeOf(Array.prototype, new Proxy({}, { get() { while (true) {} }, set() { while (true) {} }, has() { while (true) {} } }));
Object.setPrototypeOf(Promise.prototype, null);
Object.setPrototypeOf(Function.prototype, null);
await llm('a');
