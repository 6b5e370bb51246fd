# ends: error
source = "\n".join("x" * 1000 for _ in range(1000))
raise ValueError(source * 20)
