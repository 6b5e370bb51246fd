const odd = new Error('x');
Object.defineProperty(odd, 'name', { get() { while (true) {} } });
throw odd;
