let error;
for (let n = 0; n < 1e7; n += 1) error = new Error('x', { cause: error });
throw error;
