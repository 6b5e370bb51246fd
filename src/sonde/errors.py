"""Every error Sonde raises, by who can mend it.

    SondeError
    ├─ UsageError          you: the command or call cannot work as it was given
    │  ├─ InputError       an input is missing, unreadable, or not text
    │  ├─ ModelChoiceError a model's name, key or address cannot be used
    │  └─ RunChoiceError   no such run, more than one, or one that is busy
    ├─ RunError            whoever started the run: it could not go on
    │  ├─ InputChanged     an input shrank or changed while it was being read
    │  ├─ InterpreterError the interpreter did not start, or broke
    │  └─ JournalError     the run's record cannot be written or read
    ├─ LimitReached        whoever set the limit: it was kept
    │  └─ OutOfService     whoever pays: a model's server refuses until something is mended
    ├─ RunCancelled        whoever started the run: somebody asked it to stop
    ├─ Escalation          a person: the run waits for their answer
    ├─ ModelError          the engine: one model request failed; it may try again
    ├─ TaskError           the code in a cell: what it called failed
    └─ InternalError       us: a promise inside Sonde was broken

Each has a stable `code`. A message says what happened and to what; `remedy` says what to do next.
"""

from typing import ClassVar, Literal

ModelFault = Literal[
    "key",
    "quota",
    "model",
    "prompt",
    "tools",
    "refused",
    "rate",
    "overload",
    "server",
    "unreachable",
    "connection",
    "timeout",
    "response",
]
TaskFault = Literal[
    "model_error",
    "timeout",
    "budget",
    "depth",
    "unknown_agent",
    "schema",
    "cancelled",
    "tool_error",
]

_RETRYABLE: frozenset[str] = frozenset(
    {"rate", "overload", "server", "unreachable", "connection", "timeout", "response"}
)


class SondeError(Exception):
    """Any error of Sonde."""

    code: ClassVar[str] = "error"

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}. {self.remedy}" if self.remedy else self.what


class UsageError(SondeError):
    """The command or call cannot work as it was given."""

    code = "usage"


class InputError(UsageError):
    """An input is missing, unreadable, or not text."""

    code = "input"


class ModelChoiceError(UsageError):
    """A model's name, key or address cannot be used."""

    code = "model_choice"


class RunChoiceError(UsageError):
    """No such run, more than one, or one that is busy."""

    code = "run_choice"


class RunError(SondeError):
    """The run could not go on."""

    code = "run"


class InputChanged(RunError):
    """An input shrank or changed while it was being read."""

    code = "input_changed"


class InterpreterError(RunError):
    """The interpreter did not start, or broke in a way that code cannot repair."""

    code = "interpreter"


class JournalError(RunError):
    """The run's record cannot be written or read."""

    code = "journal"


class LimitReached(SondeError):
    """A limit was kept. `limit` is its name, as in the flag that sets it."""

    code = "limit"

    def __init__(self, limit: str, what: str, remedy: str = "") -> None:
        super().__init__(what, remedy)
        self.limit = limit


class RunCancelled(SondeError):
    """Somebody asked the run to stop."""

    code = "cancelled"


class Escalation(SondeError):
    """The run waits for a person. The message is the question."""

    code = "escalated"


class OutOfService(LimitReached):
    """A model's server refuses until somebody mends what it names: the key, the quota. `limit` is that fault."""


class ModelError(SondeError):
    """One model request failed. `fault` says how, `retry_after` what the server asked for, in seconds."""

    code = "model"

    def __init__(self, fault: ModelFault, what: str, remedy: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(what, remedy)
        self.fault: ModelFault = fault
        self.retry_after = retry_after

    @property
    def retryable(self) -> bool:
        """Whether the same request may succeed later."""
        return self.fault in _RETRYABLE


class TaskError(SondeError):
    """What the code in a cell called has failed; the code can catch it."""

    code = "task"

    def __init__(self, kind: TaskFault, what: str, *, retryable: bool = False) -> None:
        super().__init__(what)
        self.kind: TaskFault = kind
        self.retryable = retryable


class InternalError(SondeError):
    """A promise inside Sonde was broken: a defect of ours."""

    code = "internal"
