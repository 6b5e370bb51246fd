await llm("x", label="\0" * 1000, model="../../etc/passwd")
