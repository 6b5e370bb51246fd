const kept = [];
while (true) kept.push(new WeakRef({ x: 'x'.repeat(1000) }));
