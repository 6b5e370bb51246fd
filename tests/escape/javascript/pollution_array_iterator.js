Array.prototype[Symbol.iterator] = function* () { while (true) yield 1; };
await gather(llm('a'), llm('b'));
