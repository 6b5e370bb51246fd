# ends: ok | error
class Text(str):
    def __contains__(self, what):
        return True

    def __str__(self):
        return 5


Text("x")
