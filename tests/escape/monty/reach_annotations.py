def odd(x: int = 1) -> str:
    return str(x)


found = [getattr(odd, name, None) for name in ("__globals__", "__code__", "__closure__", "__builtins__", "__self__", "__module__")]
"ESCAPED" if any(each is not None and each != "__main__" for each in found) else "held"
