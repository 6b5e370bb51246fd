# ends: error
class Text(str):
    def __len__(self):
        raise ValueError

    def __getitem__(self, where):
        raise ValueError


class Odd(Exception):
    def __str__(self):
        return Text("x")


raise Odd
