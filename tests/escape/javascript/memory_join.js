Array(1000).fill('x'.repeat(1000000)).join('');
