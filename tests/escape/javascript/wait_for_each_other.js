let release;
const first = new Promise((resolve) => { release = resolve; });
const second = first.then(() => second);
await first;
