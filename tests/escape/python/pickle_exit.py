# ends: killed
import os
import pickle


class Payload:
    def __reduce__(self):
        return os._exit, (7,)


pickle.loads(pickle.dumps(Payload()))
