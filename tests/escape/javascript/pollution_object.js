Object.prototype.toJSON = () => ({ forged: true });
Object.prototype.kind = 'forged';
Object.prototype.error = { kind: 'x', message: 'y' };
await llm('a');
