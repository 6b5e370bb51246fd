# ends: error RecursionError
def ping():
    return pong()


def pong():
    return ping()


ping()
