Map.prototype.get = Map.prototype.set = Map.prototype.delete = () => { while (true) {} };
await llm('a');
