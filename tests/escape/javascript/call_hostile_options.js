await llm('x', { get schema() { while (true) {} } });
