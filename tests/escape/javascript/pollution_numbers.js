Object.prototype[0] = 'forged';
Object.prototype.length = 5;
await gather(llm('a'));
