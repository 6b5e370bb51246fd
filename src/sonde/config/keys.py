"""What can be configured: the names are those of the flags, and a few tables with keys of their own."""

from typing import Any, get_args, get_type_hints

from sonde.config import kinds
from sonde.config.kinds import Kind
from sonde.documents.cut import RLM_STRATEGIES, STRATEGIES
from sonde.engine.folder import DEFAULT
from sonde.interpreters.choose import NAMES as INTERPRETERS
from sonde.spec import DEEPEST, Approve, Limits, Route

TABLES = ("rlm", "gc", "chunk", "grep")
"""Tables with a fixed set of keys; beside them `models` and `profiles`, whose names users choose."""

ALIASES = {
    "rlm.max_depth": "max_depth",
    "rlm.max_sub_calls": "max_calls",
    "rlm.sub_model": "sub_model",
    "rlm.timeout_per_subcall": "call_timeout",
    "rlm.fallback_on_depth_limit": "no_fallback",
}
"""Keys of the table `rlm` that say the same as a flag."""

INVERSE = frozenset({"rlm.fallback_on_depth_limit"})
"""Those that say it the other way around."""

ONLY_USERS = frozenset({"interpreter_unconfined", "guest_packages", "key_env"})
"""What only a user's own file may set, since a folder's files come from whoever made the folder: packages are loaded
with all that the user may do, and any secret could be called a key."""


class Key:
    """A setting: its name, what it may hold, and what it is if nobody sets it."""

    def __init__(self, name: str, kind: Kind, default: Any = None) -> None:
        self.name = name
        self.kind = kind
        self.default = default

    @property
    def variable(self) -> str:
        """The environment variable that sets it: that of the flag, which knows no table."""
        return "SONDE_" + self.name.rpartition(".")[2].upper()


def _limits() -> list[Key]:
    hints, usual = get_type_hints(Limits), Limits()
    found: list[Key] = []
    for name in Limits.option_names():
        field = Limits.field_of(name)
        kind = kinds.number() if float in (hints[field], *getattr(hints[field], "__args__", ())) else _whole(name)
        found.append(Key(name, kind, getattr(usual, field)))
    return found


def _whole(name: str) -> Kind:
    if name == "max_depth":
        return kinds.whole(1, DEEPEST)
    return kinds.whole(0 if name == "retries" else 1)


KEYS = {
    key.name: key
    for key in (
        Key("model", kinds.MODEL),
        Key("sub_model", kinds.MODEL),
        Key("also_model", kinds.MODELS, []),
        Key("key_env", kinds.TEXT),
        Key("profile", kinds.TEXT),
        Key("route", kinds.one_of(*get_args(Route)), "auto"),
        Key("direct_below", kinds.whole(0), 5_000),
        Key("code_above", kinds.whole(0), 20_000),
        Key("interpreter", kinds.one_of(*INTERPRETERS)),
        Key("interpreter_unconfined", kinds.YES_OR_NO, False),
        Key("guest_packages", kinds.TEXTS, []),
        Key("agents", kinds.PATH),
        Key("schema", kinds.PATH),
        Key("strict", kinds.YES_OR_NO, False),
        Key("no_fallback", kinds.YES_OR_NO, False),
        Key("approve", kinds.one_of(*get_args(Approve))),
        Key("price", kinds.PRICE),
        *_limits(),
        Key("max_items", kinds.whole(1)),
        Key("runs_dir", kinds.PATH, str(DEFAULT)),
        Key("quiet", kinds.YES_OR_NO, False),
        Key("no_panel", kinds.YES_OR_NO, False),
        Key("rlm.parallel_sub_calls", kinds.YES_OR_NO, True),
        Key("rlm.chunk_strategy", kinds.one_of(*RLM_STRATEGIES), "auto"),
        Key("rlm.chunk_size", kinds.whole(1), 1000),
        Key("rlm.cache_intermediate", kinds.YES_OR_NO, False),
        Key("rlm.cost_tracking", kinds.YES_OR_NO, True),
        Key("rlm.intermediate_dir", kinds.one_of("intermediate"), "intermediate"),
        Key("rlm.completion_artifact", kinds.one_of("final-result.md"), "final-result.md"),
        Key("gc.older_than", kinds.SPAN, "7d"),
        Key("gc.failed_older_than", kinds.SPAN, "30d"),
        Key("gc.max_size", kinds.SIZE),
        Key("chunk.strategy", kinds.one_of(*STRATEGIES), "semantic"),
        Key("chunk.size", kinds.whole(1), 200),
        Key("chunk.overlap", kinds.whole(0), 20),
        Key("grep.before", kinds.whole(0), 20),
        Key("grep.after", kinds.whole(0), 20),
    )
}
"""All of them, as `config show` lists them."""


def spellings() -> list[str]:
    """Return every name that a file may write."""
    return [*KEYS, *ALIASES]
