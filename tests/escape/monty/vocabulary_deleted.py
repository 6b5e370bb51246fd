del llm
await llm('a')
