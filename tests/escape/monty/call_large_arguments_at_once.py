r = await gather(*[llm("x" * 15_000_000) for _ in range(20)])
