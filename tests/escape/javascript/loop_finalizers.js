const registry = new FinalizationRegistry(() => { while (true) {} });
for (let n = 0; n < 1000; n += 1) registry.register({}, n);
await llm('a');
