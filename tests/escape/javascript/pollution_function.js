Function.prototype.call = Function.prototype.apply = () => { while (true) {} };
await llm('a');
