const odd = { length: 2 ** 53 - 1 };
Array.prototype.indexOf.call(odd, 1);
