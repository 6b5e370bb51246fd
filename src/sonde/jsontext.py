"""JSON that keeps lone surrogates.

Invalid UTF-8 in a document is kept as lone surrogates (surrogateescape), so any text may hold them. msgspec
is fast but refuses them; the standard library writes them as escapes. Encode and decode here try the
fast way first and fall back only when a surrogate is met.
"""

import json
import re
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def encode(value: object) -> bytes:
    """Return `value` as one line of JSON."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode()


def encode_valid(value: object) -> bytes:
    """Return `value` as JSON in valid UTF-8, as strict readers need it: a lone surrogate becomes U+FFFD."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(",", ":"))
        return _LONE_SURROGATE.sub("\ufffd", text).encode()


@overload
def decode(data: bytes | str, kind: type[T]) -> T: ...
@overload
def decode(data: bytes | str, kind: Any) -> Any: ...
def decode(data: bytes | str, kind: Any) -> Any:
    """Return the `kind` written in `data`. Raises `msgspec.DecodeError` when it is not one."""
    try:
        return _decode(data, kind)
    except (RecursionError, UnicodeError) as error:
        raise msgspec.DecodeError(str(error)) from error


def _decode(data: bytes | str, kind: Any) -> Any:
    try:
        return msgspec.json.decode(data, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        return msgspec.convert(_decode_slowly(data), type=kind)


def _decode_slowly(data: bytes | str) -> Any:
    try:
        return json.loads(data)
    except ValueError as error:
        raise msgspec.DecodeError(str(error)) from error
