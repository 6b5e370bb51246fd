"""What the words take and give, asked of the words themselves."""

import ast
import inspect
from collections.abc import Awaitable
from typing import Any, TypeGuard

from .refusal import bare

_signatures: dict[Any, inspect.Signature | None] = {}


def signature_of(word: Any) -> inspect.Signature | None:
    """Return what a word takes; None if it is not called, or takes anything."""
    if not callable(word):
        return None
    if word not in _signatures:
        try:
            _signatures[word] = inspect.signature(word)
        except (ValueError, TypeError):
            _signatures[word] = None
    return _signatures[word]


def is_awaited(word: Any) -> bool:
    """Whether what a word gives is to be awaited."""
    if isinstance(word, type):
        return issubclass(word, Awaitable)
    if inspect.iscoroutinefunction(word):
        return True
    signature = signature_of(word)
    given = None if signature is None else signature.return_annotation
    return isinstance(given, type) and given is not inspect.Signature.empty and issubclass(given, Awaitable)


def gives_at_once(word: Any) -> bool:
    """Whether what a word gives surely cannot be awaited."""
    if isinstance(word, type) or inspect.iscoroutinefunction(word):
        return False
    signature = signature_of(word)
    given = None if signature is None else signature.return_annotation
    return signature is not None and (
        given is None or getattr(given, "__origin__", given) in {str, list, dict, int, bool}
    )


def fields_of(signature: inspect.Signature, bound: dict[str, Any]) -> dict[str, ast.expr]:
    """Return what a word is given, by its bare name. One that takes more than it names takes all in one dict, too."""
    more = more_of(signature)
    fields = {**bound, **bound.get(more, {})}
    first = next(iter(signature.parameters), "")
    if more and isinstance(written := fields.get(first), ast.Dict):
        del fields[first]
        fields |= {key.value: each for key, each in zip(written.keys, written.values, strict=True) if is_text(key)}
    return {bare(name): node for name, node in fields.items() if isinstance(node, ast.expr)}


def more_of(signature: inspect.Signature) -> str:
    """Return the name under which a word takes what it does not name; nothing if it does not."""
    return next((each.name for each in signature.parameters.values() if each.kind is each.VAR_KEYWORD), "")


def is_text(node: ast.expr | None) -> TypeGuard[ast.Constant]:
    """Whether code is a text that is written out."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def plainly(signature: inspect.Signature) -> str:
    """Return a signature without the types."""
    bare = [each.replace(annotation=inspect.Parameter.empty) for each in signature.parameters.values()]
    return str(inspect.Signature(bare))
