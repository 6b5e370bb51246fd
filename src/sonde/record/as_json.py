"""Texts, values, errors and usage as the record's files have them."""

from typing import Any

import msgspec

from sonde import jsontext
from sonde.events import Fault, Stored, Usage
from sonde.journal.reader import Reader


def quoted(text: str) -> msgspec.Raw:
    """Return text as a string of JSON; what strict readers refuse becomes U+FFFD."""
    return msgspec.Raw(jsontext.encode_valid(text))


def raw(value: Stored, reader: Reader) -> msgspec.Raw:
    """Return a value, which is kept as JSON, as a part of JSON that strict readers take. Raises `JournalError`."""
    text = reader.text(value)
    if "\\ud" in text:
        return msgspec.Raw(jsontext.encode_valid(jsontext.decode(text, object)))
    return msgspec.Raw(text.encode())


def fault_as_json(fault: Fault) -> dict[str, Any]:
    """Return an error as the record's files have it."""
    plain: dict[str, Any] = {"code": fault.code, "message": quoted(fault.message)}
    if fault.kind:
        plain["kind"] = fault.kind
    return plain


def usage_as_json(used: Usage) -> dict[str, int]:
    """Return usage as the record's files have it; what nobody reported is a figure of its own."""
    plain = {
        "input_tokens": used.input_tokens,
        "output_tokens": used.output_tokens,
        "total_tokens": used.tokens,
        "cached_tokens": used.cached_tokens,
        "requests": used.requests,
    }
    if used.unreported_tokens:
        plain["unreported_tokens"] = used.unreported_tokens
    return plain


def cost_as_json(used: Usage, cost_usd: float | None) -> dict[str, Any]:
    """Return usage with what it did cost, where that is known."""
    plain: dict[str, Any] = dict(usage_as_json(used))
    return plain if cost_usd is None else plain | {"total_cost_usd": cost_usd}
