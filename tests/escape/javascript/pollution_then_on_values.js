Object.prototype.then = function (resolve) { resolve('forged'); };
await llm('a');
