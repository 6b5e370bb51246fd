"""Spans of time and sizes as people write them: `7d`, `90s`, `2GB`."""

import re

_AMOUNT = re.compile(r"\s*(?P<number>[0-9]{1,12}(?:\.[0-9]{1,9})?)\s*(?P<unit>[a-z]+)\s*")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_BYTES = {
    "b": 1,
    **{prefix + "b": 1000**power for power, prefix in enumerate("kmgt", 1)},
    **{prefix + "ib": 1024**power for power, prefix in enumerate("kmgt", 1)},
}


def read_span(text: str) -> float:
    """Return the seconds of a span of time. Raises `ValueError`."""
    return _read(text, _SECONDS)


def read_size(text: str) -> int:
    """Return the bytes of a size. Raises `ValueError`."""
    return int(_read(text, _BYTES))


def size_text(size: float) -> str:
    """Return a size as people read it."""
    for unit in ("bytes", "kB", "MB"):
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.2f} GB"


def span_text(seconds: float) -> str:
    """Return a span of time as people read it, in its largest unit."""
    unit, length = next(((u, n) for u, n in reversed(_SECONDS.items()) if u != "w" and seconds >= n), ("s", 1))
    return f"{int(seconds // length)}{unit}"


def _read(text: str, units: dict[str, int]) -> float:
    match = _AMOUNT.fullmatch(text.lower())
    if match is None or match["unit"] not in units:
        raise ValueError(text)
    return float(match["number"]) * units[match["unit"]]
