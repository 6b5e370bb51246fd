# ends: error
def deeper(n):
    if n == 0:
        raise ValueError("x")
    xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx = deeper(n - 1)


deeper(150)
