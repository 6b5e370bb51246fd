const shared = new SharedArrayBuffer(4);
await Atomics.waitAsync(new Int32Array(shared), 0, 0).value;
