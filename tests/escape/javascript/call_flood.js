(await gather(Array.from({ length: 100000 }, () => llm('x')))).length
