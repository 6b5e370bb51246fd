"""What is to be seen in the tree of a Python cell: the names it binds and reads, its calls, and where the outcome of a
call is used at once. It only looks: no rule is in here, and nothing is run."""

import ast
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple, cast

EVERYTHING = "BaseException"
_NO_NODES = {"ctx", "op", "ops", "annotation", "returns", "type_comment", "type_ignores"}
_DYNAMIC_NAMES = {"exec", "eval", "globals", "locals", "vars", "dir", "__builtins__", "__import__"}
_DYNAMIC_ATTRIBUTES = {"modules", "__dict__", "__globals__", "f_globals", "f_locals", "f_builtins", "_getframe"}
_DYNAMIC_MODULES = {"builtins", "__main__", "importlib", "runpy", "code"}
_OF_COROUTINES = {"send", "throw", "close"}

_ABOVE = {"TaskError": ("RuntimeError",), "SchemaError": ("TaskError", "RuntimeError")}
_NAMES_OF_ERRORS = """
Exception BaseException NameError UnboundLocalError TypeError TaskError RuntimeError ValueError KeyError IndexError
LookupError AttributeError OSError IOError ArithmeticError ZeroDivisionError OverflowError ImportError
ModuleNotFoundError StopIteration StopAsyncIteration TimeoutError UnicodeError UnicodeDecodeError RecursionError
MemoryError AssertionError NotImplementedError FileNotFoundError PermissionError ConnectionError EOFError
SyntaxError KeyboardInterrupt SystemExit GeneratorExit Deadlock InputChanged Timeout
"""
_ERRORS = frozenset(_NAMES_OF_ERRORS.split())
_TYPE_PARAMETERS = [getattr(ast, name) for name in ("TypeVar", "ParamSpec", "TypeVarTuple") if hasattr(ast, name)]
_fields: dict[type[ast.AST], tuple[str, ...]] = {}

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
Todo = list[tuple[ast.AST, "Place"]]


class Place(NamedTuple):
    """Where in a cell something is."""

    owner: ast.AST | None = None
    """The function or class that it is in the body of; None: it runs with the cell."""
    caught: frozenset[str] = frozenset()
    """The errors that code around it deals with."""


class Used(NamedTuple):
    """A value that is used at once, as one that is not awaited cannot be."""

    value: ast.expr
    place: Place
    dropped: bool = False
    """Whether it is used for nothing: it is a statement of its own."""


class Survey:
    """What is to be seen in a tree."""

    def __init__(self, tree: ast.Module | ast.Expression) -> None:
        self.bound: Counter[str] = Counter()
        self.reads: list[tuple[ast.Name, Place]] = []
        self.calls: list[tuple[ast.Call, Place]] = []
        self.awaited: list[tuple[ast.Call, Place]] = []
        self.used: list[Used] = []
        self.assigned: list[tuple[str, ast.Call, Place]] = []
        """Names that are given the outcome of a call."""
        self.literals: dict[str, ast.Dict] = {}
        self.functions: defaultdict[str, list[Function]] = defaultdict(list)
        self.members: list[tuple[ast.Attribute, Place]] = []
        self.generators: set[ast.AST | None] = set()
        self.awaits = False
        """Whether it awaits something at its top level."""
        self.deletes = False
        self.is_dynamic = False
        """Whether it may make names that cannot be seen."""
        self._left: Todo = [(tree, Place())]
        self._go_through()

    def running(self, hands_over: Callable[[ast.Call], bool]) -> set[ast.AST | None]:
        """Return which functions run with the cell: those that it calls, or hands to what calls them. With them is
        None, for what is in no function."""
        calls = defaultdict[ast.AST | None, list[ast.Call]](list)
        for call, place in self.calls:
            if not is_caught("NameError", place):
                calls[place.owner].append(call)
        running: set[ast.AST | None] = {None}
        left: list[ast.AST | None] = [None]
        while left:
            for call in calls[left.pop()]:
                new = [each for each in self._run_by(call, hands_over) if each not in running]
                running.update(new)
                left += new
        return running

    def _run_by(self, call: ast.Call, hands_over: Callable[[ast.Call], bool]) -> Iterable[ast.AST]:
        given = [call.func, *(call.args if hands_over(call) else ())]
        for each in given:
            if isinstance(each, ast.Lambda):
                yield each
            elif isinstance(each, ast.Name) and len(self.functions[each.id]) == 1 and self.bound[each.id] == 1:
                yield self.functions[each.id][0]

    # --- Going through it ---------------------------------------------------------------------------------------

    def _go_through(self) -> None:
        left, looks = self._left, self._LOOKS
        while left:
            node, place = left.pop()
            kind = node.__class__
            look = looks.get(kind)
            if look is None:
                self._go_into(node, place)
            else:
                look(self, node, place)

    def _go_into(self, node: ast.AST, place: Place) -> None:
        kind = node.__class__
        fields = _fields.get(kind)
        if fields is None:
            fields = _fields[kind] = tuple(field for field in kind._fields if field not in _NO_NODES)
        for field in fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                self._left += [(each, place) for each in cast("list[Any]", value) if isinstance(each, ast.AST)]
            elif isinstance(value, ast.AST):
                self._left.append((value, place))

    def _push(self, nodes: Iterable[ast.AST | None], place: Place) -> None:
        self._left += [(each, place) for each in nodes if each is not None]

    # --- Names --------------------------------------------------------------------------------------------------

    def _name(self, node: ast.Name, place: Place) -> None:
        if isinstance(node.ctx, ast.Load):
            self.reads.append((node, place))
            if node.id in _DYNAMIC_NAMES:
                self.is_dynamic = True
        else:
            self.bound[node.id] += 1
            self.deletes = self.deletes or isinstance(node.ctx, ast.Del)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, place: Place) -> None:
        self.bound[node.name] += 1
        if not node.decorator_list:
            self.functions[node.name].append(node)
        self._push(node.decorator_list, place)
        self._parameters(node.args, place)
        inside = Place(node, place.caught)
        self._push([*node.body, *getattr(node, "type_params", ())], inside)

    def _lambda(self, node: ast.Lambda, place: Place) -> None:
        self._parameters(node.args, place)
        self._left.append((node.body, Place(node, place.caught)))

    def _parameters(self, node: ast.arguments, place: Place) -> None:
        named = (*node.posonlyargs, *node.args, *node.kwonlyargs, node.vararg, node.kwarg)
        self.bound.update(each.arg for each in named if each is not None)
        self._push([*node.defaults, *node.kw_defaults], place)

    def _class(self, node: ast.ClassDef, place: Place) -> None:
        self.bound[node.name] += 1
        self._push([*node.decorator_list, *node.bases, *node.keywords], place)
        self._push([*node.body, *getattr(node, "type_params", ())], Place(node, place.caught))

    def _import(self, node: ast.Import | ast.ImportFrom, place: Place) -> None:
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]
        self.is_dynamic = self.is_dynamic or not _DYNAMIC_MODULES.isdisjoint(modules)
        for each in node.names:
            self.is_dynamic = self.is_dynamic or each.name == "*"
            self.bound[each.asname or each.name.partition(".")[0]] += 1

    def _names(self, node: ast.Global | ast.Nonlocal, place: Place) -> None:
        self.bound.update(node.names)

    def _named(self, node: ast.AST, place: Place) -> None:
        """Something that binds a name which is no node."""
        name = getattr(node, "name", None) or getattr(node, "rest", None)
        if isinstance(name, str):
            self.bound[name] += 1
        self._go_into(node, place)

    # --- Errors that are dealt with -----------------------------------------------------------------------------

    def _try(self, node: Any, place: Place) -> None:
        caught = frozenset(name for each in node.handlers for name in _caught_by(each.type))
        self._push(node.body, Place(place.owner, place.caught | caught))
        self._push([*node.handlers, *node.orelse, *node.finalbody], place)

    def _with(self, node: ast.With, place: Place) -> None:
        inside = place
        for item in node.items:
            call = item.context_expr
            if isinstance(call, ast.Call) and _last_name(call.func) == "suppress":
                caught = frozenset(name for each in call.args for name in _caught_by(each))
                inside = Place(place.owner, inside.caught | caught)
        self._push(node.items, place)
        self._push(node.body, inside)

    # --- Calls, and what becomes of them ------------------------------------------------------------------------

    def _call(self, node: ast.Call, place: Place) -> None:
        self.calls.append((node, place))
        if any(each.arg == "return_exceptions" for each in node.keywords):
            place = Place(place.owner, place.caught | {"Exception"})
        self._push([node.func, *node.args, *(each.value for each in node.keywords)], place)

    def _await(self, node: ast.Await, place: Place) -> None:
        self._async(node, place)
        if isinstance(node.value, ast.Call):
            self.awaited.append((node.value, place))

    def _async(self, node: ast.AST, place: Place) -> None:
        self.awaits = self.awaits or place.owner is None
        self._go_into(node, place)

    def _yield(self, node: ast.AST, place: Place) -> None:
        self.generators.add(place.owner)
        self._go_into(node, place)

    def _statement(self, node: ast.Expr, place: Place) -> None:
        self.used.append(Used(node.value, place, dropped=True))
        self._left.append((node.value, place))

    def _expression(self, node: ast.Expression, place: Place) -> None:
        self.used.append(Used(node.body, place, dropped=True))
        self._left.append((node.body, place))

    def _value(self, node: ast.FormattedValue | ast.Subscript, place: Place) -> None:
        self.used.append(Used(node.value, place))
        if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
            self.used.pop()
        self._go_into(node, place)

    def _attribute(self, node: ast.Attribute, place: Place) -> None:
        self.is_dynamic = self.is_dynamic or node.attr in _DYNAMIC_ATTRIBUTES
        if isinstance(node.value, ast.Name):
            self.members.append((node, place))
        if node.attr not in _OF_COROUTINES and not node.attr.startswith(("__", "cr_")):
            self.used.append(Used(node.value, place))
        self._left.append((node.value, place))

    def _operation(self, node: ast.BinOp, place: Place) -> None:
        self.used += (Used(node.left, place), Used(node.right, place))
        self._left += ((node.left, place), (node.right, place))

    def _comparison(self, node: ast.Compare, place: Place) -> None:
        if not any(isinstance(each, ast.Is | ast.IsNot) for each in node.ops):
            self.used += [Used(each, place) for each in (node.left, *node.comparators)]
        self._push([node.left, *node.comparators], place)

    def _test(self, node: ast.If | ast.While | ast.IfExp, place: Place) -> None:
        if isinstance(node.test, ast.Call):
            self.used.append(Used(node.test, place))
        self._go_into(node, place)

    def _loop(self, node: ast.For | ast.comprehension, place: Place) -> None:
        if isinstance(node, ast.comprehension) and node.is_async:
            self._async(node, place)
            return
        self.used.append(Used(node.iter, place))
        self._go_into(node, place)

    def _assignment(self, node: ast.Assign, place: Place) -> None:
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Name):
            if isinstance(node.value, ast.Call):
                self.assigned.append((target.id, node.value, place))
            elif isinstance(node.value, ast.Dict):
                self.literals[target.id] = node.value
        self._go_into(node, place)

    def _nothing(self, node: ast.AST, place: Place) -> None:
        """It is passed over."""

    _LOOKS: ClassVar[dict[type[ast.AST], Callable[[Any, Any, Place], None]]] = {
        ast.Name: _name,
        ast.Constant: _nothing,
        ast.FunctionDef: _function,
        ast.AsyncFunctionDef: _function,
        ast.Lambda: _lambda,
        ast.ClassDef: _class,
        ast.Import: _import,
        ast.ImportFrom: _import,
        ast.Global: _names,
        ast.Nonlocal: _names,
        ast.ExceptHandler: _named,
        ast.MatchAs: _named,
        ast.MatchStar: _named,
        ast.MatchMapping: _named,
        ast.Try: _try,
        ast.TryStar: _try,
        ast.With: _with,
        ast.Call: _call,
        ast.Await: _await,
        ast.AsyncFor: _async,
        ast.AsyncWith: _async,
        ast.Yield: _yield,
        ast.YieldFrom: _yield,
        ast.Expr: _statement,
        ast.Expression: _expression,
        ast.FormattedValue: _value,
        ast.Subscript: _value,
        ast.Attribute: _attribute,
        ast.BinOp: _operation,
        ast.Compare: _comparison,
        ast.If: _test,
        ast.While: _test,
        ast.IfExp: _test,
        ast.For: _loop,
        ast.comprehension: _loop,
        ast.Assign: _assignment,
        **dict.fromkeys(_TYPE_PARAMETERS, _named),
    }


def is_caught(kind: str, place: Place) -> bool:
    """Whether code around a place deals with errors of a kind."""
    return not place.caught.isdisjoint((kind, *_ABOVE.get(kind, ()), "Exception", EVERYTHING))


def _caught_by(caught: ast.expr | None) -> list[str]:
    """Return the names of the errors that a handler is for; of what cannot be told, that it is for all."""
    if isinstance(caught, ast.Tuple):
        return [name for each in caught.elts for name in _caught_by(each)]
    if isinstance(caught, ast.Attribute):
        return [caught.attr]
    if isinstance(caught, ast.Name) and caught.id in _ERRORS:
        return [caught.id]
    return [EVERYTHING]


def _last_name(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
