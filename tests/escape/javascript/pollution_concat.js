String.prototype.concat = () => { while (true) {} };
print('x', { a: 1 });
'y'
