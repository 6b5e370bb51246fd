Object.defineProperty(Object.prototype, 'value', { set() { while (true) {} }, get() { return 'forged'; } });
await llm('a');
