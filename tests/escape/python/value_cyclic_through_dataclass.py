# ends: error
import dataclasses


@dataclasses.dataclass
class Node:
    next: object = None


node = Node()
node.next = node
FINAL(node)
