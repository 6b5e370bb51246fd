def key(item):
    return sorted([1, 2], key=key)


sorted([1, 2], key=key)
