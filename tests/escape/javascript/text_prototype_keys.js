FINAL(JSON.parse('{"__proto__": {"x": 1}, "constructor": 1}'));
