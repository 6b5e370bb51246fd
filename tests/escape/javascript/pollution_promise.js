Promise.prototype.then = () => { while (true) {} };
await llm('a');
