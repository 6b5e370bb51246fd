"""Run snippets in this Python as it is: a program of its own, which reads sources as JSON and writes what came of them.

Standard library only, and nothing of ours: it is what the interpreters are measured against.
"""

import ast
import asyncio
import contextlib
import inspect
import io
import json
import sys
import types
from typing import Any

_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def run(source: str) -> tuple[str | None, str]:
    """Return the last expression as a cell shows it, and what was printed. Raises what the snippet raises."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    tree = compile(source, "<snippet>", "exec", ast.PyCF_ONLY_AST | _FLAGS)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        value = asyncio.run(_run(tree, last, module.__dict__)) if _awaits(tree, last) else _now(tree, last, module)
    return _shown(value), printed.getvalue()


def _awaits(tree: ast.Module, last: ast.Expr | None) -> bool:
    whole = ast.Module([*tree.body, *([last] if last else [])], [])
    return bool(compile(whole, "<snippet>", "exec", _FLAGS).co_flags & inspect.CO_COROUTINE)


def _now(tree: ast.Module, last: ast.Expr | None, module: types.ModuleType) -> Any:
    exec(compile(tree, "<snippet>", "exec"), module.__dict__)  # noqa: S102 - the snippets are ours
    return last and eval(compile(ast.Expression(last.value), "<snippet>", "eval"), module.__dict__)


async def _run(tree: ast.Module, last: ast.Expr | None, names: dict[str, Any]) -> Any:
    for code in (
        compile(tree, "<snippet>", "exec", _FLAGS),
        last and compile(ast.Expression(last.value), "<snippet>", "eval", _FLAGS),
    ):
        value = code and eval(code, names)
        if inspect.iscoroutine(value):
            value = await value
    return value


def _shown(value: Any) -> str | None:
    if value is None:
        return None
    return value if isinstance(value, str) and "\n" in value else repr(value)


if __name__ == "__main__":
    json.dump([run(source) for source in json.load(sys.stdin)], sys.stdout)
