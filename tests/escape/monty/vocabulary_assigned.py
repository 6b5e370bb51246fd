llm = gather = FINAL = budget = None
1
