const kept = [];
while (true) kept.push(new Uint8Array(1 << 20).fill(1));
