# ends: ok | error
class Text(str):
    def __str__(self):
        return "other"

    def encode(self, *given):
        return b'"},{"'


FINAL(Text("x"))
await llm(Text("x"))
