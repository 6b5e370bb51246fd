"""What the arguments of a call cost our memory: values that are small as text are larger where they are held."""

import sys
from typing import Any, cast

from sonde.interpreters.confined.child.wire import MOST_DEPTH

_CALL_BYTES, _VALUE_BYTES = 500, 80  # of a call, and of a value within its arguments, besides text


def cost_of(arguments: dict[str, Any]) -> int:
    """Return about how many bytes they take. Raises `ValueError` if they are nested so deep that whatever is done with
    them may take more stack than there is."""
    cost, depth = _CALL_BYTES, 0
    level: list[Any] = [*arguments.values()]
    while level:
        depth += 1
        if depth > MOST_DEPTH:
            raise ValueError(f"lists and objects in a call are nested more than {MOST_DEPTH} deep")
        below: list[Any] = []
        for value in level:
            cost += _VALUE_BYTES
            if isinstance(value, str):
                cost += sys.getsizeof(value)
            elif isinstance(value, dict):
                below.extend(each for pair in cast("dict[str, Any]", value).items() for each in pair)
            elif isinstance(value, list):
                below.extend(cast("list[Any]", value))
        level = below
    return cost
