# ends: waits | timeout | killed | error
# What is small as text is large where it is held, and many calls are open at once.
schema = {"x": [[]] * 300_000}
await gather(*[llm("hang", schema=schema) for _ in range(60)])
