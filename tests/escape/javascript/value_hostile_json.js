FINAL({ toJSON() { return { toJSON() { throw 1; } }; } });
