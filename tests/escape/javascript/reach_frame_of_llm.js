let found;
const then = Promise.prototype.then;
Promise.prototype.then = function (...given) { found ??= this; return then.apply(this, given); };
await llm('a');
Promise.prototype.then = then;
found && typeof found.fetch === 'function' ? 'ESCAPED' : 'held'
