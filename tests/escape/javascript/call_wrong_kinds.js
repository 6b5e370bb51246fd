await llm(5);
