# What is short on the wire may be four times that in memory.
r = await gather(*[llm("🙂" + "x" * 10_000_000) for _ in range(6)])
