# ends: ok | error | killed
class Node:
    __slots__ = ("inner",)


deep = None
for _ in range(500_000):
    node = Node()
    node.inner = deep
    deep = node
del deep, node
