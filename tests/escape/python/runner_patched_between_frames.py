# ends: ok | error | killed
# breaks itself
# The code that drives cells is within reach of cells: whatever is made of it stays inside.
import gc
import types

for each in gc.get_objects():
    if isinstance(each, types.FunctionType) and each.__module__.startswith("sonde.") and not each.__closure__:
        each.__code__ = (lambda *given, **named: None).__code__
1
