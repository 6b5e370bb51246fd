while (true) console.log('x'.repeat(1000), { a: [1, 2, 3] });
