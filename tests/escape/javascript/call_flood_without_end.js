while (true) await gather(Array.from({ length: 1000 }, () => llm('x')));
