const kept = [];
while (true) { try { while (true) kept.push([1, 2, 3]); } catch {} }
