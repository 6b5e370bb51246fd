const kept = [];
while (true) kept.push(new Error('x'.repeat(10000)));
