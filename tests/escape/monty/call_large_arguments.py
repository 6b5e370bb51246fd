for _ in range(5):
    len(await llm("x" * 15_000_000))
