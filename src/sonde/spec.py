"""What a run is asked to do: frozen values, the same from the command line, Python, or the journal."""

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from sonde import jsontext
from sonde.errors import UsageError

Schema = dict[str, Any]

_MAY_BE_ZERO = {"retries", "retry_base_s"}
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
    timeout_s: float | None = None
    """Wall time of the whole run."""
    call_timeout_s: float = 300.0
    """Wall time of one model request."""
    cell_cpu_s: float = 60.0
    """Processor time of one cell; waiting is not counted."""
    cell_memory_mb: int = 512
    """Memory that cells of one interpreter may use."""
    concurrency: int = 64
    """Model requests on the wire at once."""
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

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> "Limits":
        """Return the limits that options name as the flags do: `timeout` for `timeout_s`. Raises `UsageError`."""
        named = {_named(field): field for field in cls.__struct_fields__}
        return cls(**{field: options[name] for name, field in named.items() if options.get(name) is not None})

    @classmethod
    def field_of(cls, name: str) -> str:
        """Return the field that an option's name stands for."""
        return next(field for field in cls.__struct_fields__ if _named(field) == name)


class ModelChoice(msgspec.Struct, frozen=True, omit_defaults=True):
    """Which models a run uses, by the names a user writes. No key is ever part of it."""

    root: str
    sub: str | None = None
    key_env: str | None = None
    """The environment variable that holds the key, if not the provider's usual one."""


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
    strict: bool = False
    """Refuse inputs that are not valid UTF-8."""

    def to_json(self) -> str:
        """Return the spec as the journal keeps it."""
        return jsontext.encode(self).decode()

    @classmethod
    def from_json(cls, text: str) -> "RunSpec":
        """Return the spec that `to_json` wrote."""
        return jsontext.decode(text, cls)
