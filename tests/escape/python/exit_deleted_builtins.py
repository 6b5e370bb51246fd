# ends: ok | error | killed
import builtins

for name in list(vars(builtins)):
    if name not in ("delattr", "list", "vars"):
        delattr(builtins, name)
