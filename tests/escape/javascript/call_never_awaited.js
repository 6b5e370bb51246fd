for (let n = 0; n < 10000; n += 1) llm('x');
1
