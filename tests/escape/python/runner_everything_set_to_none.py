# ends: ok | error | killed
import sys

for name, module in list(sys.modules.items()):
    if name.startswith(("sonde.", "json", "socket", "asyncio")) and module is not None:
        for each in list(vars(module)):
            vars(module)[each] = None
1
