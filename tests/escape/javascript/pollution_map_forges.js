Map.prototype.get = () => [(x) => print('forged', x), print];
await llm('a');
