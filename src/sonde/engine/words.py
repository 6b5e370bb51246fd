"""What code in a cell may ask of the host: the functions by name, and what each is given."""

from typing import Any

import msgspec


class _Given(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The arguments of a call; any other is refused."""


class LlmCall(_Given, frozen=True):
    """What `llm` is given."""

    prompt: str
    schema: dict[str, Any] | None = None
    model: str | None = None
    label: str | None = None
    cache: bool = False


class TaskCall(_Given, frozen=True):
    """What `task` is given."""

    description: str
    subagent_type: str = "general-purpose"
    response_schema: dict[str, Any] | None = None
    label: str | None = None
    model: str | None = None
    timeout: float | None = None


class ContextInput(_Given, frozen=True):
    """An input by its number; -1 is all of them."""

    input: int


class RlmCall(_Given, frozen=True):
    """What `rlm` is given."""

    question: str
    context: str | ContextInput | None = None
    schema: dict[str, Any] | None = None
    model: str | None = None
    label: str | None = None


class FinalCall(_Given, frozen=True):
    """What `FINAL` is given."""

    value: Any


class BudgetCall(_Given, frozen=True):
    """What `budget` is given: nothing."""


class SleepCall(_Given, frozen=True):
    """Until when a timer runs."""

    until: float


class PhaseCall(_Given, frozen=True):
    """What `phase` is given."""

    name: str


class LogCall(_Given, frozen=True):
    """What `log` is given."""

    text: str


class SaveCall(_Given, frozen=True):
    """What `save` is given."""

    name: str
    value: Any


class ToolUse(_Given, frozen=True):
    """A tool by its name, and what it is given."""

    name: str
    arguments: dict[str, Any]


class ResultsCall(_Given, frozen=True):
    """What `results` is given: nothing."""


class WorkflowCall(_Given, frozen=True):
    """A saved workflow by its name, and what it is given."""

    name: str
    args: Any = None


class Unknown(msgspec.Struct, frozen=True):
    """A call that cannot be answered, and why."""

    why: str


class Disallowed(msgspec.Struct, frozen=True):
    """A call that a person does not allow, and what they said."""

    why: str


Given = (
    LlmCall
    | TaskCall
    | RlmCall
    | FinalCall
    | BudgetCall
    | SleepCall
    | PhaseCall
    | LogCall
    | SaveCall
    | ToolUse
    | ResultsCall
    | WorkflowCall
    | Unknown
    | Disallowed
)

_FUNCTIONS: dict[str, type[Given]] = {
    "llm": LlmCall,
    "task": TaskCall,
    "rlm": RlmCall,
    "final": FinalCall,
    "budget": BudgetCall,
    "sleep": SleepCall,
    "phase": PhaseCall,
    "log": LogCall,
    "save": SaveCall,
    "tool": ToolUse,
    "results": ResultsCall,
    "workflow": WorkflowCall,
}


def read_call(function: str, arguments: dict[str, Any]) -> Given:
    """Return what a call asks for; one that asks for nothing we know comes back as `Unknown`."""
    try:
        return msgspec.convert(arguments, _FUNCTIONS[function])
    except KeyError:
        return Unknown(f"there is no {function!r} to call")
    except msgspec.ValidationError as error:
        return Unknown(str(error))


def request_of(given: Given) -> str:
    """Return the text that a call sends away; nothing for one that sends none."""
    match given:
        case LlmCall(prompt=text) | TaskCall(description=text) | RlmCall(question=text):
            return text
        case _:
            return ""
