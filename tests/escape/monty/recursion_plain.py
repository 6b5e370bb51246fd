def again(n):
    return again(n + 1)


again(0)
