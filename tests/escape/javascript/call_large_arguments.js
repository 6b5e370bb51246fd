for (let n = 0; n < 3; n += 1) await llm('x'.repeat(15000000));
