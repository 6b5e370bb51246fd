eval('var llm = 5; let FINAL = 6;');
1
