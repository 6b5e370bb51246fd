"""What a run is asked to do: frozen values, the same from the command line, Python, or the journal."""

import math
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from sonde import jsontext
from sonde.errors import UsageError

Schema = dict[str, Any]
Mode = Literal["ask", "agent", "workflow"]
Route = Literal["auto", "direct", "rlm"]
Approve = Literal["eval", "dispatch"]

DEEPEST = 5
CHARS_PER_TOKEN = 4
"""How many characters are taken for a token, where only a size is known."""
_MAY_BE_ZERO = {"retries", "retry_base_s", "max_usd", "max_depth"}
_SMALLEST = 0.001


def _named(field: str) -> str:
    """Return the option for a field: its name without the unit."""
    return field.removesuffix("_s").removesuffix("_mb")


class Limits(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far a run may go."""

    max_turns: int = 100
    """Model turns of one agent."""
    max_calls: int = 20_000
    """Dispatches of the whole run; turns of the root and retries are not counted."""
    max_depth: int = 3
    """How deep agents may nest below the root, which has depth 0."""
    max_tokens: int | None = None
    """Tokens of the whole run, in and out."""
    max_input_tokens: int | None = None
    """Tokens of all prompts."""
    max_output_tokens: int | None = None
    """Tokens of all replies."""
    max_usd: float | None = None
    """Dollars of the whole run."""
    reply_tokens: int | None = None
    """Tokens of one reply; if it is not set, models decide, unless tokens or dollars are limited."""
    timeout_s: float | None = None
    """Wall time of the whole run."""
    call_timeout_s: float = 300.0
    """Wall time of one model request."""
    cell_cpu_s: float = 60.0
    """Processor time of one cell; waiting is not counted."""
    cell_memory_mb: int = 512
    """Memory that cells of one interpreter may use."""
    concurrency: int | None = None
    """Model requests on the wire at once, to one endpoint; if it is not set, as many as it bears."""
    retries: int = 3
    """How often a failed model request is sent again."""
    retry_base_s: float = 1.0
    """The first back-off; it doubles with each retry."""

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            value = getattr(self, name)
            lowest = 0 if name in _MAY_BE_ZERO else 1 if isinstance(value, int) else _SMALLEST
            if value is not None and not lowest <= value < math.inf:
                flag = "--" + _named(name).replace("_", "-")
                raise UsageError(f"{flag} {value} is out of range", f"Give at least {lowest:g}.")
        if self.max_depth > DEEPEST:
            raise UsageError(f"--max-depth {self.max_depth} is out of range", f"Give at most {DEEPEST}.")

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "Limits":
        """Return the limits that options name as the flags do: `timeout` for `timeout_s`. Raises `UsageError`."""
        named = {_named(field): field for field in cls.__struct_fields__}
        return cls(**{field: options[name] for name, field in named.items() if options.get(name) is not None})

    @classmethod
    def option_names(cls) -> list[str]:
        """Return the names of the options that set limits."""
        return [_named(field) for field in cls.__struct_fields__]

    def changed(self, options: Mapping[str, Any]) -> "Limits":
        """Return these limits with those changed that options name. Raises `UsageError`."""
        own = {_named(field): getattr(self, field) for field in self.__struct_fields__}
        return Limits.from_options(own | {name: value for name, value in options.items() if value is not None})

    @classmethod
    def field_of(cls, name: str) -> str:
        """Return the field that an option's name stands for."""
        return next(field for field in cls.__struct_fields__ if _named(field) == name)


class ModelChoice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which models a run uses, by the names a user writes. No key is ever part of it."""

    root: str
    sub: str | None = None
    key_env: str | None = None
    """The environment variable that holds the key of the root's provider, if not its usual one."""
    also: tuple[str, ...] = ()
    """Other models that code may name in a call."""

    @property
    def all(self) -> frozenset[str]:
        """All that somebody has named, and so all that data may be sent to."""
        return frozenset({self.root, self.sub or self.root, *self.also})

    def key_env_of(self, name: str) -> str | None:
        """Return the variable that was named for a model's key; one provider's key is not sent to another."""
        return self.key_env if name.partition(":")[0] == self.root.partition(":")[0] else None


class Subagent(msgspec.Struct, frozen=True, omit_defaults=True):
    """A kind of agent that others can send to work."""

    name: str
    description: str
    system_prompt: str
    model: str | None = None
    """Its model; None for the one that all subagents have."""
    tools: tuple[str, ...] | None = None
    """The tools it may use; None for all that there are."""
    schema: Schema | None = None
    """The form of its results, where the call that sends it does not name one."""
    interpreter: bool = False
    """Whether it may run code."""
    can_delegate_to: tuple[str, ...] | None = None
    """The agents it may send in its turn; None for all."""


class RunSpec(msgspec.Struct, frozen=True, omit_defaults=True):
    """Everything that decides a run, but for the world around it."""

    question: str
    models: ModelChoice
    inputs: tuple[str, ...] = ()
    limits: Limits = Limits()
    schema: Schema | None = None
    interpreter: str | None = None
    """What runs the cells; None until the run starts, for whatever is usual."""
    unconfined: bool = False
    """Let cells run with all that the user may do."""
    guest_packages: tuple[str, ...] = ()
    """Packages of this Python that cells may import."""
    price: tuple[float, float] | None = None
    """Dollars for a million tokens in and out, of models whose price is not known."""
    mode: Mode = "ask"
    """Whether it answers over inputs, works in a folder with tools, or runs a saved workflow."""
    route: Route = "rlm"
    """Whether code looks into the inputs, or one request holds them; `auto` goes by their size."""
    direct_below: int = 5_000
    """Inputs of fewer tokens go into one request, where the route is `auto`."""
    code_above: int = 20_000
    """Inputs of more tokens are looked into by code."""
    cut: str = ""
    """How inputs are best cut, for the model to know: a strategy and a number of lines, in words."""
    folder: str | None = None
    """Where an agent's files are; None for files that are the run's own."""
    role: str | None = None
    """The kind of agent that the root is."""
    subagents: tuple[Subagent, ...] = ()
    """Kinds of agents that can be sent, beside the general one."""
    fallback: bool = True
    """Process directly what may not be sent deeper; otherwise that is an error."""
    approve: Approve | None = None
    """What a person is asked before it happens."""
    cache: bool = False
    """Keep the answers to all plain calls for later runs, as `llm(..., cache=True)` does."""
    cache_only: bool = False
    """Answer plain calls with what was kept alone; what was not is an error."""
    sends_from_code: bool = True
    """Whether code has the word `task`; the tool of that name is another matter."""
    workflow: str | None = None
    """The code of a saved workflow, which takes the place of a model."""
    args: Any = None
    """What the workflow is given."""
    most_items: int | None = None
    """How many items one fan-out may have."""
    strict: bool = False
    """Refuse inputs that are not valid UTF-8."""

    @property
    def named_models(self) -> frozenset[str]:
        """All models that somebody has named."""
        return self.models.all | {each.model for each in self.subagents if each.model is not None}

    def key_env_of(self, name: str) -> str | None:
        """Return the variable that was named for a model's key. One at an address that only an agent's file names gets
        none: whoever wrote the file is not who holds the key."""
        return "" if "@" in name and name not in self.models.all else self.models.key_env_of(name)

    def to_json(self) -> str:
        """Return the spec as the journal keeps it."""
        return jsontext.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> "RunSpec":
        """Return the spec that `to_json` wrote."""
        return jsontext.decode(text, cls)
