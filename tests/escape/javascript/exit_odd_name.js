const odd = new Error('x');
odd.name = 'x'.repeat(10000000);
throw odd;
