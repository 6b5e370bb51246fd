# ends: error | ok
await llm("x", schema=[1, 2, 3])
