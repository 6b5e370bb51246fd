const kept = [];
while (true) kept.push(new Promise(() => {}));
