const odd = { get me() { return this.me; } };
odd.me;
