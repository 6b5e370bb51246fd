await Promise.all([llm('a'), (async () => { while (true) {} })()]);
