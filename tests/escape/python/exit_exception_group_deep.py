# ends: error | killed | timeout
error = ValueError("x")
for _ in range(50_000):
    error = ExceptionGroup("x", [error])
raise error
