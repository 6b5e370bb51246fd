# ends: error RecursionError
class Meta(type):
    def __instancecheck__(cls, instance):
        return isinstance(instance, cls)


class Odd(metaclass=Meta):
    pass


isinstance(1, Odd)
