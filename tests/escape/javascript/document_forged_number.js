const odd = Object.create(Document.prototype);
odd.slice(0, 1);
