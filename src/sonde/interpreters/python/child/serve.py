"""Python, as the nursery and its interpreters know it."""

import asyncio
import hashlib
import os
import random
import sys
import types
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any

from sonde.guest import dataset, delegation, patterns, vocabulary
from sonde.guest.document import Document, of_text
from sonde.guest.inputs import fits_one_string
from sonde.guest.manual import manual
from sonde.guest.streams import Pipeline
from sonde.interpreters.confined.child.faults import Deadlock, InputChanged, TaskError, Timeout
from sonde.interpreters.confined.child.session import World
from sonde.interpreters.confined.child.wire import Wire

from .cell import Runner
from .clock import settle_clock
from .loop import CellLoop
from .pool import offer_pool
from .preload import preload
from .workflow import compile_workflow, giver

_WORDS: tuple[Callable[..., Any], ...] = (
    vocabulary.llm,
    vocabulary.llm_query,
    vocabulary.llm_query_batched,
    vocabulary.gather,
    vocabulary.parallel,
    delegation.rlm,
    delegation.rlm_query,
    delegation.rlm_query_batched,
    delegation.workflow,
    delegation.phase,
    delegation.log,
    delegation.save,
    delegation.results,
    patterns.fan_out,
    patterns.classify_and_act,
    patterns.verify,
    patterns.generate_and_filter,
    patterns.tournament,
    patterns.loop_until_done,
    dataset.grep,
    dataset.chunk,
    dataset.partition,
    dataset.map_items,
    dataset.reduce_items,
    dataset.prior_search,
)


def prepare(packages: list[str], folders: list[str]) -> None:
    """Load what cells can import. Raises `ImportError` for a package that is not there."""
    preload(packages, folders)
    offer_pool()


def begin(wire: Wire, world: World) -> Runner:
    """Make the runner of one interpreter, with all that its cells find."""
    loop = CellLoop(wire)
    asyncio.set_event_loop(loop)
    variables = _variables()
    runner = Runner(wire, loop, variables)
    _settle_time_and_chance(wire, loop, world.seed)
    _offer_words(loop, runner, world, variables)
    if world.is_workflow:
        runner.compile = compile_workflow
        runner.take = giver(vocabulary.final, lambda: runner.finished)
    variables["context"] = world.whole
    if fits_one_string(world.documents):
        with suppress(InputChanged):  # the first cell is told
            variables["context"] = str(world.whole)
    variables["inputs"] = Inputs((document.name, document) for document in world.documents)
    return runner


def _variables() -> dict[str, Any]:
    """Return the variables of the module that cells run in; it is a real one, so that classes can be pickled."""
    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    # Not a boundary, which the kernel keeps; but nothing good comes of native calls in a cell.
    for name in ("ctypes", "_ctypes"):
        sys.modules.pop(name, None)
    return module.__dict__


def _settle_time_and_chance(wire: Wire, loop: CellLoop, seed: str) -> None:
    """Make the clock and chance the run's, so that a replay sees the same."""
    chance = random.Random(hashlib.sha256(b"urandom" + seed.encode()).digest())

    def sleep(seconds: float) -> None:
        loop.call_now("sleep", {"until": wire.now + seconds})

    def run(main: Coroutine[Any, Any, Any], *, debug: bool | None = None) -> Any:
        if loop.is_running():
            main.close()
            raise RuntimeError("asyncio.run() cannot be used beside `await`: write `await main()`")
        return loop.run_until_complete(main)

    def draw(self: random.Random, a: Any = None, version: int = 2) -> None:
        seed_with(self, chance.getrandbits(256) if a is None else a, version)

    seed_with, random.Random.seed = random.Random.seed, draw
    random.seed = vars(random)["_inst"].seed
    random.seed(hashlib.sha256(seed.encode()).digest())
    os.urandom = chance.randbytes
    os.getrandom = lambda size, flags=0: chance.randbytes(size)
    random.__dict__["_urandom"] = chance.randbytes  # what `secrets` draws from
    settle_clock(loop.time, sleep)
    asyncio.run = run


def _offer_words(loop: CellLoop, runner: Runner, world: World, variables: dict[str, Any]) -> None:
    """Make the words built in: code may use the same names for itself, and `del` brings the word back."""

    def call_now(function: str, arguments: dict[str, Any]) -> Any:
        value = loop.call_now(function, arguments)
        runner.finished = runner.finished or function == "final"
        return value

    def final_var(name: str) -> None:
        """Finish the run with the value of a variable."""
        if name not in variables:
            raise NameError(f"FINAL_VAR: there is no variable {name!r}")
        vocabulary.final(variables[name])

    known: dict[str, Any] = {"most_items": world.most_items, "tools": world.tools}
    known["manual"] = manual(js=False, agents=world.agents, tools=world.tools)
    beside = {"host_call": loop.call, "host_call_now": call_now, "host_call_all_now": loop.call_all_now}
    beside |= {"world": known, "document_number": _numbers(world), "document_of": _documents(world)}
    for module in (vocabulary, delegation, patterns, dataset):
        module.__dict__.update(beside)
    words = {
        "pipeline": Pipeline,
        "budget": vocabulary.Budget(world.budget),
        "FINAL": vocabulary.final,
        "FINAL_VAR": final_var,
        "tools": delegation.Tools(world.tools),
        "args": world.args,
        "help": delegation.give_help,
    }
    words |= {word.__name__: word for word in _WORDS}
    words |= {error.__name__: error for error in (TaskError, Deadlock, InputChanged, Timeout)}
    if world.agents:
        words["task"] = delegation.task
    runner.words = words
    runner.agents = tuple(world.agents)


def _numbers(world: World) -> Callable[[object], int | None]:
    """Return what tells the number of a document of the host's."""
    numbers = {id(world.whole): -1} | {id(document): number for number, document in enumerate(world.documents)}
    return lambda document: numbers.get(id(document))


def _documents(world: World) -> Callable[[object], Document]:
    """Return what makes a document of what code wants to be searched or cut."""

    def document_of(source: object) -> Document:
        if source is None:
            return world.whole
        if isinstance(source, Document):
            return source
        if isinstance(source, str):
            return of_text(source)
        raise TypeError(f"this takes a str or a Document, not {type(source).__name__}")

    return document_of


class Inputs(dict[str, Document]):
    """The inputs by name."""

    def __missing__(self, name: object) -> Document:
        known = ", ".join(map(repr, list(self)[:20])) or "there are none"
        raise KeyError(f"no input {name!r}; known: {known}")
