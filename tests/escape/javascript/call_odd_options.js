await llm('x', new Proxy({}, { get: () => ({ toJSON() { throw 1; } }) }));
