throw new AggregateError(Array(1000000).fill(new Error('x'.repeat(1000))), 'many');
