Promise.reject(new Error('first'));
queueMicrotask?.(() => { throw new Error('second'); });
setTimeout(() => { throw new Error('third'); }, 1);
await sleep(5);
