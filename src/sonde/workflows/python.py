"""The header and the syntax of a workflow in Python, looked at without running it."""

import ast
import warnings

from sonde.interpreters.python.child.workflow import compile_workflow
from sonde.workflows.written import Path, Unfit, Written

_WRITTEN = (ast.Dict, ast.List, ast.Tuple, ast.Constant, ast.UnaryOp, ast.USub, ast.UAdd, ast.Load)
_BEGIN = 'Begin it with meta = {"name": "…", "description": "…"}; only comments may come before.'
_MEND = "Mend the file."


def header(code: str) -> Written:
    """Return the header. Raises `Unfit`."""
    first = next(iter(_tree(code).body), None)
    match first:
        case ast.Assign(targets=[ast.Name(id="meta")], value=ast.Dict() as value):
            pass
        case ast.AnnAssign(target=ast.Name(id="meta"), value=ast.Dict() as value):
            pass
        case _:
            raise Unfit(1 if first is None else first.lineno, "the first statement is not `meta = {…}`", _BEGIN)
    for node in ast.walk(value):
        if not isinstance(node, _WRITTEN):
            line = getattr(node, "lineno", value.lineno)
            raise Unfit(line, f"`{_short(node)}` in the header is no value that is written out")
    try:
        literal = ast.literal_eval(value)
    except (ValueError, TypeError) as error:
        raise Unfit(value.lineno, f"the header is no value that is written out: {error}") from error
    lines: dict[Path, int] = {}
    _note_lines(value, (), lines)
    return Written(literal, lines)


def check_syntax(code: str) -> None:
    """Compile all of it, as the interpreter does. Raises `Unfit`."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile_workflow(code, "<workflow>")
    except SyntaxError as error:
        raise Unfit(error.lineno or 1, error.msg, _MEND) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unfit(1, f"it cannot be compiled: {error}", _MEND) from error


def _tree(code: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            return compile(code, "<workflow>", "exec", flags, dont_inherit=True)
    except SyntaxError as error:
        raise Unfit(error.lineno or 1, error.msg, _MEND) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unfit(1, f"it cannot be read: {error}", _MEND) from error


def _note_lines(node: ast.expr, path: Path, lines: dict[Path, int]) -> None:
    lines[path] = lines.get(path, node.lineno)
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                below = (*path, key.value)
                if below in lines:
                    raise Unfit(key.lineno, f"the field {key.value!r} is there twice")
                lines[below] = key.lineno
                _note_lines(value, below, lines)
            else:
                raise Unfit(node.lineno, "the names of fields must be texts")
    elif isinstance(node, ast.List | ast.Tuple):
        for number, value in enumerate(node.elts):
            _note_lines(value, (*path, number), lines)


def _short(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else text[:39] + "…"
