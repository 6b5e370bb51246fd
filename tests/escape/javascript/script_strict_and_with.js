with ({ llm: null }) { llm; }
