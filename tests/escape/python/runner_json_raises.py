# ends: ok | error | killed
import json


def fail(*given, **named):
    raise RuntimeError


json.dumps = json.loads = fail
1
