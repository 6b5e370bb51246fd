await llm('x', { label: { a: 1 }, model: ['y'], schema: 'z' });
