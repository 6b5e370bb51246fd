# ends: error
exec("def f(n):\n    " + "x = 1; " * 100_000 + "\n    return f(n + 1)\nf(0)")
