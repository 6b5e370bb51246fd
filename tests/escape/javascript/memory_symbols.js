const kept = [];
while (true) kept.push(Symbol.for(`name${kept.length}`));
