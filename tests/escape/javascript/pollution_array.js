Array.prototype.push = () => { while (true) {} };
Array.prototype.join = () => 'forged';
await llm('a');
