const kept = [];
while (true) kept.push([kept.length]);
