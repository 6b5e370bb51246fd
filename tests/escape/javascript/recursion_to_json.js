const odd = { toJSON() { return JSON.stringify(this); } };
JSON.stringify(odd);
