"""An agent's conversation: what the model is shown, and how its replies are read."""

import ast
import re
from typing import Any, Literal, NamedTuple

import msgspec

from sonde import jsontext
from sonde.interpreters.protocol import CellResult
from sonde.models.protocol import Message, Reply, Request, Tool, ToolCall

SHOWN_CHARS = 4000

EVAL = Tool(
    "eval",
    "Run code in the interpreter. Variables last between calls; the last expression's value and what was "
    "printed come back.",
    {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "The code to run."}},
        "required": ["code"],
        "additionalProperties": False,
    },
)

_FENCE_LINE = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n`]*$", re.MULTILINE)
_RUNNABLE = {"", "python", "py", "repl", "javascript", "js"}
_FINAL = re.compile(r"^\s*FINAL(?P<var>_VAR)?\((?P<inside>.*)\)\s*\Z", re.DOTALL | re.MULTILINE)
_FOLLOWS_CODE = "Only the first block was run; what came after it was dropped."


class Cell(NamedTuple):
    """Code to run, and the tool call that asked for it, if one did. `problem` tells why it cannot be run."""

    code: str
    tool_call_id: str = ""
    problem: str = ""
    note: str = ""


class Use(NamedTuple):
    """A tool that the model wants to use, other than running code. `arguments` is what it wrote."""

    name: str
    arguments: str
    tool_call_id: str


class Closing(NamedTuple):
    """A reply that ends the agent's work. `variable` names where the answer is, if it is not the text itself."""

    answer: object
    variable: str = ""


class _EvalArguments(msgspec.Struct):
    code: str


class Transcript:
    """Messages, and the way code is asked for: as a tool where the model has tools, else in fenced blocks."""

    def __init__(
        self,
        system: dict[Literal["native", "fenced"], str],
        first: str,
        tools: tuple[Tool, ...] = (),
        *,
        runs_code: bool = True,
    ) -> None:
        self.native = True
        self._tools = (EVAL, *tools) if runs_code else tools
        self._runs_code = runs_code
        self.messages = [Message("user", first)]
        self._system = system
        self._sent = 0
        self._used_tools = False

    def request(self, schema: dict[str, Any] | None = None) -> Request:
        """Return the next request to the model. The schema of the answer goes with it where nothing but an answer can
        come."""
        system = Message("system", self._system["native" if self.native else "fenced"])
        tools = self._tools if self.native else ()
        return Request((system, *self.messages), tools=tools, schema=None if self._tools else schema)

    def unsent(self) -> list[Message]:
        """Return the messages that no earlier request held."""
        unsent = self.messages[self._sent :]
        self._sent = len(self.messages)
        return unsent

    def read(self, reply: Reply) -> list[Cell | Use] | Closing:
        """Add a reply and return what it asks for."""
        if reply.tool_calls:
            self._used_tools = True
            self.messages.append(Message("assistant", reply.text, reply.tool_calls))
            return [self._step_of(call) for call in reply.tool_calls]
        # A model that is offered tools but writes code into its text has none that work.
        block = None if self._used_tools or not self._runs_code else _first_block(reply.text)
        if block is not None:
            self.native = False
            code, end = block
            self.messages.append(Message("assistant", reply.text[:end]))
            return [Cell(code, note=_FOLLOWS_CODE if reply.text[end:].strip() else "")]
        self.messages.append(Message("assistant", reply.text))
        return _closing(reply.text)

    def show_use(self, use: Use, text: str) -> None:
        """Add what came of a tool."""
        self.messages.append(Message("tool", text, tool_call_id=use.tool_call_id))

    def _step_of(self, call: ToolCall) -> Cell | Use:
        if call.name == EVAL.name and self._runs_code:
            return _cell_of(call)
        if len(self._tools) > 1 or not self._runs_code:
            return Use(call.name, call.arguments, call.id)
        problem = f'<error type="UnknownTool">\nThere is no tool {call.name!r}; use eval.\n</error>'
        return Cell("", call.id, problem)

    def tell(self, text: str) -> None:
        """Add a message from the user's side."""
        self.messages.append(Message("user", text))

    def show(self, cell: Cell, result: CellResult | None) -> None:
        """Add what came of a cell; None if it was not run."""
        text = cell.problem if result is None else shown(result)
        text = f"{text}\n{cell.note}" if cell.note else text
        if cell.tool_call_id:
            self.messages.append(Message("tool", text, tool_call_id=cell.tool_call_id))
        else:
            self.tell(text)


def shown(result: CellResult) -> str:
    """Return a cell's result as the model sees it."""
    parts: list[str] = []
    if result.stdout:
        printed = _cut(result.stdout.removesuffix("\n"))
        parts.append(f"<stdout>\n{printed}\n</stdout>")
    if result.value is not None:
        parts.append(f"<result>\n{_cut(result.value)}\n</result>")
    if result.error is not None:
        error = result.error
        told = f"{error.traceback}{error.type}: {error.message}"
        parts.append(f'<error type="{error.type}">\n{_cut(told)}\n</error>')
    if result.status in {"timeout", "killed"}:
        parts.append("What this cell had assigned is lost; the variables of the cells before it are kept.")
    return "\n".join(parts) or "<result>\n(no value)\n</result>"


def _cut(text: str) -> str:
    if len(text) <= SHOWN_CHARS:
        return text
    return f"{text[:SHOWN_CHARS]}\n[cut: {SHOWN_CHARS:,} of {len(text):,} characters shown]"


def _cell_of(call: ToolCall) -> Cell:
    try:
        return Cell(jsontext.decode(call.arguments, _EvalArguments).code, call.id)
    except msgspec.DecodeError as error:
        problem = f'<error type="InvalidArguments">\neval needs {{"code": "…"}}: {error}\n</error>'
        return Cell("", call.id, problem)


def _first_block(text: str) -> tuple[str, int] | None:
    """Return the code of the first fenced block that can be run, and where it ends. A missing end is forgiven."""
    fences = iter(_FENCE_LINE.finditer(text))
    for opening in fences:
        closing = next(fences, None)
        if opening[1].lower() in _RUNNABLE:
            end = len(text) if closing is None else closing.end()
            return text[opening.end() + 1 : len(text) if closing is None else closing.start()], end
    return None


def _closing(text: str) -> Closing:
    """Read closing text; a FINAL written there counts as one that was called."""
    final = _FINAL.search(text)
    if final is None:
        return Closing(text.strip())
    inside = final["inside"].strip()
    if final["var"]:
        return Closing(None, inside.strip("\"'"))
    try:
        return Closing(ast.literal_eval(inside))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return Closing(inside)
