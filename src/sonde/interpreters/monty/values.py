"""What passes between cells in Monty and us."""

import ast
import re
import warnings
from typing import Any, cast

import msgspec

from sonde import jsontext
from sonde.errors import InputChanged
from sonde.interpreters.confined.child.wire import MOST_VALUES, has_too_many_values
from sonde.interpreters.protocol import TaskFailure

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_KNOWN = {"ValueError", "TypeError", "IndexError", "KeyError", "OverflowError", "OSError", "MemoryError"}


def read(text: Any, most: int) -> Any:
    """Return what code sent as JSON. Raises `ValueError` if it is not, or too long."""
    if not isinstance(text, str) or len(text) > most:
        raise ValueError(f"a call takes at most {most:,} bytes of plain data")
    if has_too_many_values(text.encode(errors="surrogatepass")):
        raise ValueError(f"a call takes at most {MOST_VALUES:,} values")
    try:
        return jsontext.decode(text, Any)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ValueError(f"this is not plain data: {error}") from error


def told(value: Any) -> Any:
    """Return a value as Monty can hold it: it knows no lone surrogates, so each becomes U+FFFD."""
    if isinstance(value, str):
        return value if value.isascii() else _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, dict):
        return {told(key): told(each) for key, each in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list):
        return [told(each) for each in cast("list[Any]", value)]
    return value


def raised(error: Exception | TaskFailure) -> dict[str, Any]:
    """Return an error as code in Monty meets it: it has no kinds of its own, so a failed call is a RuntimeError."""
    if isinstance(error, TaskFailure):
        return {"exc_type": "RuntimeError", "message": told(f"{error.kind}: {error.message}")}
    name = next((each.__name__ for each in type(error).__mro__ if each.__name__ in _KNOWN), "ValueError")
    name = "OSError" if isinstance(error, InputChanged) else name
    message = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return {"exc_type": name, "message": told(message)}


def showing(code: str, show: str) -> str:
    """Return a cell that hands the value of a last expression to the function `show`, and gives nothing else."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            last = ast.parse(code).body[-1:]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return f"{code}\nNone"  # Monty may know better, or will say what is wrong
    if not last or not isinstance(expression := last[0], ast.Expr):
        return code
    lines = code.encode().splitlines(keepends=True)
    start = sum(map(len, lines[: expression.lineno - 1])) + expression.col_offset
    assert expression.end_lineno is not None, "it was parsed"
    assert expression.end_col_offset is not None, "it was parsed"
    end = sum(map(len, lines[: expression.end_lineno - 1])) + expression.end_col_offset
    content = code.encode()
    return b"".join((content[:start], f"{show}((".encode(), content[start:end], b"))", content[end:])).decode()
