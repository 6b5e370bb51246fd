"""Spread work over pieces of text: read them, number their lines, and ask about a few at a time."""

from typing import Any

CHARS_PER_TOKEN = 3  # fewer than usual, so that what is taken to fit does fit
REPLY_TOKENS = 4096


async def each(items: Any, work: Any) -> list[Any]:
    """Have work done on each item, in order, as many at once as `args` allow; return pairs of a value and an error."""
    outcomes: list[Any] = [None for _ in items]
    left = list(range(len(items) - 1, -1, -1))

    async def go_on() -> None:
        while left:
            at = left.pop()
            try:
                outcomes[at] = [await work(items[at]), None]
            except Exception as error:
                outcomes[at] = [None, " ".join(str(error).split()) or type(error).__name__]

    if items:
        await gather([go_on() for _ in range(min(args["at_once"], len(items)))])
    return outcomes


def text_of(name: str, start: int, end: int) -> str:
    """Return characters of an input."""
    document = inputs[name]
    return document.slice(start, end) if hasattr(document, "slice") else document[start:end]


def lines_of(text: str) -> list[str]:
    """Return lines without their ends."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def numbered(text: str) -> str:
    """Return text with a number before each line, from 1 on."""
    return "\n".join([f"{number}| {line}" for number, line in enumerate(lines_of(text), 1)])


def room(empty_prompt: str) -> int:
    """Return how many characters fit into one window beside a prompt and its reply."""
    window = args["window"]
    return max(400, (window - min(REPLY_TOKENS, window // 4)) * CHARS_PER_TOKEN - len(empty_prompt))


def packed(texts: list[str], most: int) -> list[list[int]]:
    """Return the numbers of texts in as few groups as hold them in order, none above a number of characters."""
    groups: list[list[int]] = []
    left = 0
    for number, text in enumerate(texts):
        size = len(text) + 2
        if not groups or size > left:
            groups.append([])
            left = most
        groups[-1].append(number)
        left -= size
    return groups


def filled(template: str, **values: str) -> str:
    """Return a prompt with each {name} replaced; braces in what replaces them stay."""
    parts = template.split("{")
    text = parts[0]
    for part in parts[1:]:
        name, _, rest = part.partition("}")
        text += values[name] + rest
    return text
