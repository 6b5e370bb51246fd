for (let n = 0; n < 100000; n += 1) Promise.reject(new Error('x'.repeat(1000)));
1
