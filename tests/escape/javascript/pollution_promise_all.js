Promise.allSettled = Promise.all = () => new Promise(() => {});
await gather(llm('a'));
