"""What can happen in a run: one closed union of facts.

The journal keeps them in order; views, resume, cost and coverage are folds of them. A fact is never changed
after it was written. Readers must tolerate kinds they do not know: a newer version may have written them.
Text above 4 KB is kept apart (`Blob`), so reading facts stays cheap.
"""

from typing import Literal

import msgspec

SCHEMA_VERSION = 1

ROOT = "root"
"""The path of the agent that a run begins with."""
TURN = "turn"
"""The function of a call that is a model's turn."""
ITEMS = frozenset({"llm", "task", "rlm"})
"""The functions whose calls are pieces of work."""
WORK = ITEMS | {"tool", "workflow"}
"""The functions that do something; all others but turns only tell or ask something of the run itself."""

CallStatus = Literal["ok", "failed", "cancelled"]
CellStatus = Literal["ok", "error", "timeout", "killed"]
RunStatus = Literal["completed", "escalated", "limit", "failed", "cancelled"]


class Blob(msgspec.Struct, frozen=True):
    """The address of a text kept in the content-addressed store."""

    blob: str
    size: int


Stored = str | Blob


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error as a fact: its stable code, its message, and a finer kind where there is one."""

    code: str
    message: str
    kind: str = ""
    retryable: bool = False


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Tokens and requests of one call, as servers reported them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    requests: int = 0
    unreported_tokens: int = 0
    """What requests may have used at the most whose usage no server reported; in no other figure."""

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cached_tokens + other.cached_tokens,
            self.reasoning_tokens + other.reasoning_tokens,
            self.requests + other.requests,
            self.unreported_tokens + other.unreported_tokens,
        )

    @property
    def tokens(self) -> int:
        """The tokens that were reported, in and out."""
        return self.input_tokens + self.output_tokens


class Event(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="kind"):
    """The base of all facts."""


class RunStarted(Event, frozen=True, tag="run_started"):
    """A run began. `spec` is its RunSpec as JSON."""

    run_id: str
    version: str
    spec: str


class RunResumed(Event, frozen=True, tag="run_resumed"):
    """A run was taken up again. `unfinished` calls were on the wire when it stopped."""

    run_id: str
    version: str
    unfinished: int = 0
    limits: str = ""
    """The limits from now on as JSON, if they were changed."""


class InputAttached(Event, frozen=True, tag="input_attached"):
    """One input, as it was when the run began. `source` is what the user named, `path` the file that is read."""

    name: str
    source: str
    path: str
    size: int
    chars: int
    lines: int
    changed_ns: int
    invalid_bytes: int = 0


class AgentStarted(Event, frozen=True, tag="agent_started"):
    """An agent (a loop with its own transcript) began. Its `agent` path holds its ancestors' paths."""

    agent: str
    role: str
    model: str
    depth: int = 0
    call: int = 0
    """The call that asked for it; 0 for the root."""


class AgentFinished(Event, frozen=True, tag="agent_finished"):
    """An agent ended."""

    agent: str
    status: RunStatus


class CellStarted(Event, frozen=True, tag="cell_started"):
    """A cell of code began to run. A cell that did not finish starts again under the same number."""

    agent: str
    cell: int
    code: Stored


class CellFinished(Event, frozen=True, tag="cell_finished"):
    """A cell ended. `value` is its last expression's, `stdout` what it printed; both whole."""

    agent: str
    cell: int
    status: CellStatus
    value: Stored | None = None
    stdout: Stored | None = None
    fault: Fault | None = None
    traceback: Stored | None = None


class CallStarted(Event, frozen=True, tag="call_started"):
    """Something was asked of the host: a model turn, an `llm` call, a timer."""

    call: int
    agent: str
    cell: int
    function: str
    key: str
    label: str = ""
    model: str = ""
    request: Stored = ""
    native: bool = False
    """The model itself asked for it, as a tool; `cell` is its turn."""


class CallRetried(Event, frozen=True, tag="call_retried"):
    """A model request of this call failed and will be sent again after `wait_s`."""

    call: int
    attempt: int
    fault: Fault
    wait_s: float


class CallFinished(Event, frozen=True, tag="call_finished"):
    """A call ended. `value` is its result as JSON."""

    call: int
    status: CallStatus
    value: Stored | None = None
    usage: Usage = Usage()
    model: str = ""
    cost_usd: float | None = None
    """What it did cost; None if no price is known."""
    unreported_usd: float = 0.0
    """What requests may have cost at the most whose usage no server reported."""
    cached: bool = False
    """It was answered from the cache of all runs."""
    cut: bool = False
    """The reply was cut at its length limit."""
    fault: Fault | None = None


class CallReused(Event, frozen=True, tag="call_reused"):
    """A call was answered with the paid result of `source`, an earlier identical one."""

    call: int
    agent: str
    cell: int
    function: str
    key: str
    source: int


class Answered(Event, frozen=True, tag="answered"):
    """An agent gave its final answer, as JSON."""

    agent: str
    value: Stored


class PhaseStarted(Event, frozen=True, tag="phase_started"):
    """An agent's work came to a new part, by the name that its code (or a pattern) gave it."""

    agent: str
    cell: int
    name: str


class Logged(Event, frozen=True, tag="logged"):
    """A line that code wrote for people to read."""

    agent: str
    text: str


class Saved(Event, frozen=True, tag="saved"):
    """An intermediate result that code named, as JSON. The last one of a name counts."""

    agent: str
    name: str
    value: Stored


class FileWritten(Event, frozen=True, tag="file_written"):
    """An agent wrote a file of its workspace; None if it was removed. `source` is the subagent it came from, and
    `wanted` the path that was taken already."""

    agent: str
    path: str
    content: Stored | None
    source: str = ""
    wanted: str = ""


class Escalated(Event, frozen=True, tag="escalated"):
    """The run waits for a person. `subject` is what they are asked about, such as code."""

    agent: str
    question: str
    subject: Stored = ""
    cell: int = 0
    """The cell that would run or send; the turn, where the model itself would."""


class PersonAnswered(Event, frozen=True, tag="person_answered"):
    """What a person said to the question the run waited with."""

    text: str


class Warned(Event, frozen=True, tag="warned"):
    """Something the user should know that did not stop the run."""

    code: str
    message: str


class RunFinished(Event, frozen=True, tag="run_finished"):
    """The run stopped. Any status but `completed` can be resumed."""

    status: RunStatus
    fault: Fault | None = None


Fact = (
    RunStarted
    | RunResumed
    | InputAttached
    | AgentStarted
    | AgentFinished
    | CellStarted
    | CellFinished
    | CallStarted
    | CallRetried
    | CallFinished
    | CallReused
    | Answered
    | PhaseStarted
    | Logged
    | Saved
    | FileWritten
    | Escalated
    | PersonAnswered
    | Warned
    | RunFinished
)


class Record(msgspec.Struct, frozen=True):
    """A fact in its place: its number in the run, and when it was written (seconds since 1970)."""

    seq: int
    at: float
    fact: Fact
