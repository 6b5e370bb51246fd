"""What a model said in a turn, as the journal has it."""

from typing import Any

import msgspec

from sonde import jsontext


class Said(msgspec.Struct, frozen=True):
    """A reply: its text, and the tool calls in it."""

    text: str = ""
    tool_calls: list[Any] = []


class _Turn(msgspec.Struct, frozen=True):
    reply: Said = Said()


def said_in(value: str) -> Said:
    """Return the text and the tool calls of a turn's value; nothing of one that is not as it should be."""
    try:
        return jsontext.decode(value, _Turn).reply
    except msgspec.DecodeError:
        return Said()
