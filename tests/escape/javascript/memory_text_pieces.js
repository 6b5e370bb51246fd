const kept = [];
while (true) kept.push('x'.repeat(100000) + kept.length);
