# ends: ok
calls = [llm("x") for _ in range(100_000)]
del calls
