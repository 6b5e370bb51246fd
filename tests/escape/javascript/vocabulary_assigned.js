llm = gather = FINAL = budget = print = null;
1
