"""A saved workflow's code: like a cell, but that it may `return`, and that what it comes to is the run's answer."""

import ast
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

VALUE = "__value__"
_NAME = "__workflow__"
_UNSEEN = "<workflow>"
"""The file of what calls the function: no line of the user's."""
_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_OWN_BODY = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def compile_workflow(source: str, filename: str) -> tuple[CodeType, ast.Module]:
    """Compile a workflow, and return its tree. What it comes to is kept in a variable. Raises `SyntaxError`."""
    tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST | _FLAGS)
    body = _body(source, filename) if returns(tree) else _ending_in_value(tree.body)
    code = compile(ast.Module(body, []), filename, "exec", _FLAGS)
    return (code.replace(co_filename=_UNSEEN) if returns(tree) else code), tree


def returns(tree: ast.Module) -> bool:
    """Whether there is a `return` outside of all functions."""
    return any(isinstance(node, ast.Return) for node in _outside_functions(tree))


def giver(final: Callable[[Any], None], is_finished: Callable[[], bool]) -> Callable[[Any], Any]:
    """Return what makes the run's answer of a workflow's value, unless there is one already, or no value."""

    def give(value: Any) -> None:
        if value is not None and not is_finished():
            final(value)

    return give


def _body(source: str, filename: str) -> list[ast.stmt]:
    """Return the workflow as the body of a function, which is called. Its variables stay those of the module, so that
    its functions may say `global`, and its classes can be found by their names."""
    tree = _WithoutAnnotations().visit(compile(source, filename, "exec", ast.PyCF_ONLY_AST | _FLAGS))
    statements = _ending_in_return(tree.body)
    function = _function(statements)
    own = compile(ast.Module([function], []), filename, "exec", _FLAGS, dont_inherit=True)
    [code] = [each for each in own.co_consts if isinstance(each, CodeType) and each.co_name == _NAME]
    names = [name for name in (*code.co_varnames, *code.co_cellvars) if name.isidentifier()]
    if names:
        function.body.insert(0, ast.Global(names, lineno=1, col_offset=0))
    called = ast.parse(f"{VALUE} = await {_NAME}()", filename).body
    return [function, *called]


def _function(body: list[ast.stmt]) -> ast.AsyncFunctionDef:
    [made] = ast.parse(f"async def {_NAME}(): pass").body
    assert isinstance(made, ast.AsyncFunctionDef), "it is written so"
    made.body = body
    return made


def _ending_in_value(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return statements of which the last, if it is an expression, is kept in the variable."""
    if not body or not isinstance(last := body[-1], ast.Expr):
        return body
    name = ast.copy_location(ast.Name(VALUE, ast.Store()), last)
    return [*body[:-1], ast.copy_location(ast.Assign([name], last.value), last)]


def _ending_in_return(body: list[ast.stmt]) -> list[ast.stmt]:
    if not body or not isinstance(last := body[-1], ast.Expr):
        return body
    return [*body[:-1], ast.copy_location(ast.Return(last.value), last)]


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, _OWN_BODY):
            yield each
            yield from _outside_functions(each)


class _WithoutAnnotations(ast.NodeTransformer):
    """Drops the annotations of variables outside of functions: a global one cannot have any."""

    def visit(self, node: ast.AST) -> Any:
        """Leave functions and classes as they are."""
        return node if isinstance(node, _OWN_BODY) else super().visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        """Return the assignment alone."""
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)
