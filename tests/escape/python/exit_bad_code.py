# ends: killed | error
f = lambda: 1
f.__code__ = f.__code__.replace(co_code=b"\x64\xff" * 100, co_stacksize=1)
f()
