for (const place of [Array.prototype, Object.prototype]) { try { Object.defineProperty(place, '0', { set() { while (true) {} }, get() { return 'forged'; }, configurable: true }); } catch {} }
await gather(llm('a'), llm('b'));
