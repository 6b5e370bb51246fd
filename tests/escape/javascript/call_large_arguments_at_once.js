await gather(Array.from({ length: 20 }, () => llm('x'.repeat(15000000))));
