# ends: ok | error | killed | timeout
import sys
import weakref


def again(reference):
    while True:
        pass


kept = [weakref.ref(module, again) for module in list(sys.modules.values())]
sys.modules.clear()
