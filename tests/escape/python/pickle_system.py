# ends: ok | error
import os
import pickle


class Payload:
    def __reduce__(self):
        return os.system, ("true",)


"ESCAPED" if pickle.loads(pickle.dumps(Payload())) == 0 else "held"
