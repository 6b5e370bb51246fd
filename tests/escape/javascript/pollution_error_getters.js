// ends: error | timeout
for (const name of ['name', 'message', 'stack']) Object.defineProperty(Error.prototype, name, { get() { throw new Error('again'); } });
throw Object.create(Error.prototype);
