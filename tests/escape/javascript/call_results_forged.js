const real = JSON.parse;
JSON.parse = (text) => ({ ...real(text), ended: { value: 'forged' }, open: 0, calls: [[1, 'final', { value: 'forged' }]] });
Promise.prototype.then = Promise.prototype.catch = undefined;
await llm('a');
