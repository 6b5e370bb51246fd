"""Tools of a user's own, beside those for files."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

from sonde.models.protocol import Tool


class OwnTool(NamedTuple):
    """A tool, and the work behind it: given the arguments, it returns plain data or raises."""

    tool: Tool
    call: Callable[[dict[str, Any]], Awaitable[Any]]
