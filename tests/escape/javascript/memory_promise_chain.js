let chain = Promise.resolve(1);
for (let n = 0; n < 1e8; n += 1) chain = chain.then((x) => x + 1);
await chain;
