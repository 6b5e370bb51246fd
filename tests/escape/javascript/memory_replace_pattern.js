'x'.repeat(100000).replace(/x/g, '$`');
