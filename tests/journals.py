"""Journals of runs that never were, written with the real writer."""

import asyncio
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from sonde import jsontext
from sonde.events import (
    AgentFinished,
    AgentStarted,
    Answered,
    Blob,
    CallFinished,
    CallReused,
    CallStarted,
    CellFinished,
    CellStarted,
    Fact,
    Fault,
    InputAttached,
    PhaseStarted,
    Record,
    RunFinished,
    RunResumed,
    RunStarted,
    Saved,
    Usage,
)
from sonde.journal.writer import Journal
from sonde.spec import Limits, ModelChoice, RunSpec

ROOT = "root"
CHILD = "root/1.00c0ffee"
SPEC = RunSpec("How many \x1b[31mbirds?", ModelChoice("openai:big", "openai:small"), limits=Limits(max_tokens=1000))

_TEXTS = {"request", "value", "stdout", "code", "content", "traceback"}


def write_journal(path: Path, facts: Iterable[Fact], *, step_s: float = 1.0) -> Path:
    """Write facts into a new journal, one each second from the year 2001 on."""

    async def main() -> None:
        times = iter(range(1 << 62))
        journal = Journal(path, clock=lambda: 1e9 + next(times) * step_s)
        try:
            for number, fact in enumerate(facts):
                journal.append(_kept(journal, fact))
                if number % 1000 == 0:
                    await journal.saved()
        finally:
            await journal.close()

    asyncio.run(main())
    return path


def records(facts: Iterable[Fact]) -> Iterator[Record]:
    """Yield facts as they would be read back, one each second."""
    for seq, fact in enumerate(facts, 1):
        yield Record(seq, 1e9 + seq, fact)


def as_run(runs: Path, run_id: str, facts: Iterable[Fact]) -> Path:
    """Write a journal where the command line looks for runs."""
    folder = runs / run_id
    folder.mkdir(parents=True)
    (folder / "lock").touch()
    write_journal(folder / "journal.db", facts)
    return folder


def said(call: int, text: str) -> CallFinished:
    """The end of a turn in which the model said something."""
    value = jsontext.encode({"reply": {"text": text}, "native": False}).decode()
    return CallFinished(call, "ok", value, Usage(100, 20, 10, requests=1), "big", 0.12)


def turn(call: int, number: int, agent: str = ROOT, news: str = "news") -> CallStarted:
    """The beginning of a turn."""
    request = jsontext.encode([{"role": "user", "text": news}]).decode()
    return CallStarted(call, agent, number, "turn", f"t{agent}{number}", request=request)


def llm(call: int, prompt: str, agent: str = ROOT, cell: int = 1, key: str = "", label: str = "") -> CallStarted:
    """The beginning of a plain model call."""
    return CallStarted(call, agent, cell, "llm", key or prompt, label, request=prompt)


def answered(call: int, value: object) -> CallFinished:
    """The end of a call that a model answered."""
    return CallFinished(call, "ok", jsontext.encode(value).decode(), Usage(10, 5, requests=1), "small", 0.01)


def failed(call: int, message: str, kind: str = "model_error") -> CallFinished:
    """The end of a call that failed."""
    return CallFinished(call, "failed", fault=Fault("task", message, kind))


def begun(run_id: str = "tale", spec: RunSpec = SPEC) -> list[Fact]:
    """How every run begins."""
    return [
        RunStarted(run_id, "1.0", spec.to_json()),
        InputAttached("birds.txt", "birds.txt", "/birds.txt", 4000, 4000, 100, 0),
        AgentStarted(ROOT, "root", "openai:big"),
    ]


def tale(run_id: str = "tale", spec: RunSpec = SPEC) -> list[Fact]:
    """A whole run: two cells, a subagent that asks a model, a failure, phases, saved values, an answer."""
    return [
        *begun(run_id, spec),
        turn(1, 1, news="How many birds?"),
        said(1, "I look first.\n```python\nparts = context\n```"),
        CellStarted(ROOT, 1, "parts = context\nrest"),
        PhaseStarted(ROOT, 1, "Reading"),
        llm(2, "page 1", label="first"),
        CallStarted(3, ROOT, 1, "task", "k3", "two", "openai:big", "count page 2"),
        llm(4, "page 3"),
        AgentStarted(CHILD, "general-purpose", "openai:big", 1, 3),
        turn(5, 1, CHILD, "count page 2"),
        said(5, "There are 7."),
        Answered(CHILD, '"There are 7."'),
        AgentFinished(CHILD, "completed"),
        CallFinished(3, "ok", '"There are 7."'),
        answered(2, {"birds": 3}),
        failed(4, "the server \x1b[2J broke"),
        PhaseStarted(ROOT, 1, "Adding"),
        Saved(ROOT, "count", "10"),
        Saved(CHILD, "Count", '"## Seven"'),
        Saved(ROOT, "../big list", jsontext.encode(["x" * 100] * 200).decode()),
        Saved(ROOT, "count", "12"),
        CellFinished(ROOT, 1, "ok", "'ok'", "printed " * 1000),
        turn(6, 2, news="<result>"),
        said(6, "Now the answer.\n```python\nFINAL(10)\n```"),
        CellStarted(ROOT, 2, "FINAL(10)"),
        CallReused(7, ROOT, 2, "llm", "page 1", 2),
        CallStarted(8, ROOT, 2, "final", "kf"),
        CallFinished(8, "ok"),
        CellFinished(ROOT, 2, "ok", "None"),
        Answered(ROOT, '"Ten \\ud800 birds"'),
        AgentFinished(ROOT, "completed"),
        RunFinished("completed"),
    ]


def many(count: int, run_id: str = "many") -> Iterator[Fact]:
    """A run of so many plain calls, a hundred at a time."""
    yield from begun(run_id)
    yield turn(1, 1)
    yield said(1, "All of them.")
    yield CellStarted(ROOT, 1, "await gather(*map(llm, context.lines()))")
    for first in range(2, count + 2, 100):
        calls = range(first, min(first + 100, count + 2))
        yield from (llm(call, f"What is on page {call}? " + "word " * 20, label=f"page {call}") for call in calls)
        yield from (answered(call, f"On page {call} there are birds.") for call in calls)
    yield CellFinished(ROOT, 1, "ok", "1")
    yield Answered(ROOT, '"done"')
    yield AgentFinished(ROOT, "completed")
    yield RunFinished("completed")


def interrupted(run_id: str = "tale") -> list[Fact]:
    """A run whose process ended in the midst of its first cell, taken up again."""
    first, again = tale(run_id)[:9], tale(run_id)[5:]
    return [*first, RunResumed(run_id, "1.0", 2), *map(_later, again)]


def _later(fact: Fact) -> Fact:
    """Return a fact with the numbers of calls that a later life would give."""
    changes = {name: getattr(fact, name) + 100 for name in ("call", "source") if getattr(fact, name, 0)}
    return msgspec.structs.replace(fact, **changes)


def _kept(journal: Journal, fact: Fact) -> Fact:
    """Return a fact with its long texts kept apart, as the engine does it."""
    for name in _TEXTS.intersection(fact.__struct_fields__):
        text = getattr(fact, name)
        if isinstance(text, str) and not isinstance(kept := journal.keep(text), str):
            assert isinstance(kept, Blob)
            fact = msgspec.structs.replace(fact, **{name: kept})
    return fact
