while (true) llm('x');
