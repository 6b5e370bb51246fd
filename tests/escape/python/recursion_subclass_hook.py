# ends: error RecursionError
class Odd:
    def __init_subclass__(cls):
        type("Again", (cls,), {})


class Start(Odd):
    pass
