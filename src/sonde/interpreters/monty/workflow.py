"""A saved workflow's code as a Monty cell: within a function if it returns, and what it comes to is the answer."""

import ast

from sonde.interpreters.monty.values import showing
from sonde.interpreters.python.child.workflow import returns

_GIVE = "sonde_give_"
_BEFORE = f"""\
def {_GIVE}(value):
    if value is not None: FINAL(value)
"""
_HEAD = "async def sonde_workflow_():\n"
LINES_BEFORE = (_BEFORE + _HEAD).count("\n")
"""How many lines stand before a workflow's own."""
_FLAGS = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


def as_cell(source: str) -> str:
    """Return a cell; each line of the workflow is as many lines further down as `LINES_BEFORE` tells."""
    try:
        tree = compile(source, "<cell>", "exec", _FLAGS)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return f"{_BEFORE}\n{source}\nNone"  # Monty will say what is wrong
    if not returns(tree):
        return f"{_BEFORE}\n{showing(source, _GIVE)}\nNone"
    lines, inside = showing(source, "return ").splitlines(keepends=True), _lines_inside_texts(tree)
    body = "".join(line if at in inside else f"    {line}" for at, line in enumerate(lines, 1))
    return f"{_BEFORE}{_HEAD}{body}\n{_GIVE}(await sonde_workflow_())\nNone"


def _lines_inside_texts(tree: ast.Module) -> set[int]:
    """Return the lines that begin within a text of several lines: those stay as they are."""
    return {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr | ast.Constant) and isinstance(getattr(node, "value", ""), str | bytes)
        for line in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }
