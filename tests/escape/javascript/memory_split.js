const kept = [];
while (true) kept.push('x'.repeat(1000000).split(''));
