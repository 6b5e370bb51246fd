"""Where in JavaScript an error is dealt with, and what runs later, if ever."""

from .tokens import Tokens

Span = tuple[int, int]


def forgiven(tokens: Tokens) -> list[Span]:
    """Return where code deals with errors: in a `try` that has a `catch`, and where outcomes are settled."""
    spans: list[Span] = []
    for at, text in enumerate(tokens.texts):
        end = tokens.closes.get(at + 1, -1)
        if (text == "try" and tokens.text(end + 1) == "catch") or (text == "allSettled" and end > 0):
            spans.append((at, end))
    return spans


def deferred(tokens: Tokens) -> list[Span]:
    """Return the bodies of functions and classes that are made here but need not run here. One that is called in the
    same cell, or handed to a call, is none of them."""
    found: list[tuple[str, Span]] = []
    for at, text in enumerate(tokens.texts):
        if tokens.kinds[at] not in {"word", "mark"}:
            continue
        body = _body(tokens, at) if text in {"function", "class"} else _arrow_body(tokens, at) if text == "=>" else None
        if body is not None:
            found.append((_name_of(tokens, at), body))
    spans = [span for _, span in found]
    used = _used(tokens, {name for name, _ in found}, spans)
    return [span for name, span in found if name not in used]


def _body(tokens: Tokens, at: int) -> Span | None:
    """Return the body of a function or class that begins with a keyword."""
    place = at + 1
    while place < len(tokens.texts) and tokens.texts[place] != "{":
        place = tokens.closes.get(place, place) + 1
    return (place, tokens.closes[place]) if place in tokens.closes else None


def _arrow_body(tokens: Tokens, arrow: int) -> Span | None:
    """Return the body of an arrow function; None if it is handed to a call at once."""
    if tokens.text(_start(tokens, arrow) - 1) in {"(", ",", "["}:
        return None
    if tokens.text(arrow + 1) == "{":
        return arrow, tokens.closes[arrow + 1]
    place = arrow + 1
    while place < len(tokens.texts) and tokens.texts[place] not in {",", ";", ")", "]", "}", "$}"}:
        place = tokens.closes.get(place, place) + 1
    return arrow, place - 1


def _start(tokens: Tokens, arrow: int) -> int:
    """Return the token that an arrow function begins with."""
    place = arrow - 1
    if tokens.text(place) == ")":
        place = tokens.opens[place]
    return place - 1 if tokens.text(place - 1) == "async" else place


def _name_of(tokens: Tokens, at: int) -> str:
    """Return the name that a function or class is given; nothing if it has none."""
    if tokens.texts[at] != "=>":
        return tokens.text(at + 2) if tokens.text(at + 1) == "*" else tokens.text(at + 1)
    start = _start(tokens, at)
    return tokens.text(start - 2) if tokens.text(start - 1) == "=" else ""


def _used(tokens: Tokens, names: set[str], spans: list[Span]) -> set[str]:
    """Return those of the names that are called, or handed to a call, outside of the spans."""
    inner = bytearray(len(tokens.texts) + 1)
    for first, last in spans:
        inner[first : last + 1] = b"\1" * (last + 1 - first)
    used: set[str] = set()
    for at, text in enumerate(tokens.texts):
        if text in names and not inner[at] and tokens.is_word(at):
            before, after = tokens.text(at - 1), tokens.text(at + 1)
            is_called = after == "(" and before not in {"function", "*"}
            if is_called or (before in {"(", ","} and after in {")", ","}):
                used.add(text)
    return used
