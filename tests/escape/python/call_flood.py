# ends: ok | timeout | killed
r = await gather(*[llm("x") for _ in range(100_000)])
len(r)
