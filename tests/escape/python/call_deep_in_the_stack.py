# ends: ok | error
def deeper(n):
    try:
        return deeper(n + 1)
    except RecursionError:
        return llm_query("from the depth")


deeper(0)
