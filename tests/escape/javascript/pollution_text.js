String.prototype.slice = String.prototype.includes = () => { while (true) {} };
print('x');
'y'
