"""An agent's conversation: what the model is shown, and how its replies are read."""

import ast
import re
from typing import Literal, NamedTuple

import msgspec

from sonde import jsontext
from sonde.interpreters.protocol import CellResult
from sonde.models.protocol import Message, Reply, Request, Tool

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


class Closing(NamedTuple):
    """A reply that ends the agent's work. `variable` names where the answer is, if it is not the text itself."""

    answer: object
    variable: str = ""


class _EvalArguments(msgspec.Struct):
    code: str


class Transcript:
    """Messages, and the way code is asked for: as a tool where the model has tools, else in fenced blocks."""

    def __init__(self, system: dict[Literal["native", "fenced"], str], first: str) -> None:
        self.native = True
        self.messages = [Message("user", first)]
        self._system = system
        self._sent = 0
        self._used_tools = False

    def request(self) -> Request:
        """Return the next request to the model."""
        system = Message("system", self._system["native" if self.native else "fenced"])
        return Request((system, *self.messages), tools=(EVAL,) if self.native else ())

    def unsent(self) -> list[Message]:
        """Return the messages that no earlier request held."""
        unsent = self.messages[self._sent :]
        self._sent = len(self.messages)
        return unsent

    def read(self, reply: Reply) -> list[Cell] | Closing:
        """Add a reply and return what it asks for."""
        if reply.tool_calls:
            self._used_tools = True
            self.messages.append(Message("assistant", reply.text, reply.tool_calls))
            return [_cell_of(call.id, call.name, call.arguments) for call in reply.tool_calls]
        # A model that is offered tools but writes code into its text has none that work.
        block = None if self._used_tools else _first_block(reply.text)
        if block is not None:
            self.native = False
            code, end = block
            self.messages.append(Message("assistant", reply.text[:end]))
            return [Cell(code, note=_FOLLOWS_CODE if reply.text[end:].strip() else "")]
        self.messages.append(Message("assistant", reply.text))
        return _closing(reply.text)

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
    return "\n".join(parts) or "<result>\nNone\n</result>"


def _cut(text: str) -> str:
    if len(text) <= SHOWN_CHARS:
        return text
    return f"{text[:SHOWN_CHARS]}\n[cut: {SHOWN_CHARS:,} of {len(text):,} characters shown]"


def _cell_of(call_id: str, name: str, arguments: str) -> Cell:
    if name != EVAL.name:
        return Cell(
            "",
            call_id,
            f'<error type="UnknownTool">\nThere is no tool {name!r}; use eval.\n</error>',
        )
    try:
        return Cell(jsontext.decode(arguments, _EvalArguments).code, call_id)
    except msgspec.DecodeError as error:
        return Cell(
            "",
            call_id,
            f'<error type="InvalidArguments">\neval needs {{"code": "…"}}: {error}\n</error>',
        )


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
