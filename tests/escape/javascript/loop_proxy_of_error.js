const odd = new Proxy(new Error('x'), { get() { while (true) {} } });
throw odd;
