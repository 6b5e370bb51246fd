'a'.repeat(100000).replace(/a*?$/g, (x) => { while (true) {} });
