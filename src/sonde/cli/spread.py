"""What the verbs share that ask about each piece or file on its own: `fanout` and `batch`."""

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec

from sonde.cli import options
from sonde.cli.drive import Work, drive
from sonde.cli.output import dollars, say
from sonde.cli.specs import bare_spec
from sonde.documents.attach import Inputs, opened
from sonde.engine.result import Result
from sonde.engine.run import Surroundings
from sonde.errors import UsageError
from sonde.events import Fault
from sonde.spec import Limits, RunSpec

AT_ONCE = 4
WINDOW = 100_000
_STDIN = 0

window = options.option(
    "--window",
    type=click.IntRange(1000),
    default=WINDOW,
    show_default=True,
    help="Tokens that one request may hold.",
)


@contextmanager
def looked_at(inputs: tuple[str, ...], *, strict: bool) -> Generator[Inputs]:
    """Give inputs ahead of the run, which attaches them itself. Raises `UsageError` for one that is read only once."""
    with opened(inputs, strict=strict) as attached:
        for each in attached.all:
            if Path(each.source).is_fifo():
                raise UsageError(f"{each.source} is a pipe, which can be read once only", "Give - and pipe it in.")
            if each.source == "standard input":
                _give_again(each.path)
        yield attached


def _give_again(copy: Path) -> None:
    """Let standard input be read a second time, from a copy, which may be removed meanwhile."""
    file = os.open(copy, os.O_RDONLY | os.O_CLOEXEC)
    os.dup2(file, _STDIN)
    os.close(file)


def workflow_of(
    question: str, inputs: tuple[str, ...], given: Mapping[str, Any], limits: Mapping[str, Any], code: str
) -> RunSpec:
    """Return what a run of one of our own workflows is asked to do, but for its arguments. `limits` are those that the
    verb changes. Raises `UsageError`."""
    spec = bare_spec(question, inputs, given, limits)
    return msgspec.structs.replace(spec, mode="workflow", workflow=code, sends_from_code=False)


def calls_for(items: int) -> int:
    """Return how many calls may be dispatched where nobody says: each item is asked about, if need be twice, and what
    comes back is put together."""
    return max(Limits().max_calls, 3 * items)


def confirmed(note: str, around: Surroundings) -> bool:
    """Say what a run would be, and return whether it is to start: somebody who is there is asked."""
    if around.confirm is None:
        say(f"sonde: note: {note}")
        return True
    return around.confirm(note)


def driven(
    work: Work,
    shown: Callable[[Result], Result],
    around: Surroundings,
    given: Mapping[str, Any],
) -> tuple[int, Result | None]:
    """Drive a run and show of it what `shown` makes of its result. Return the exit code and the result, if there is
    one."""
    ended: list[Result] = []

    async def to_its_end(place: Surroundings) -> Result:
        ended.append(shown(await work(place)))
        return ended[-1]

    code = drive(to_its_end, around, as_json=given["as_json"], quiet=given["quiet"])
    return code, ended[-1] if ended else None


def failed(result: Result, message: str) -> Result:
    """Return a result as that of a run that failed, unless it ended in another way before."""
    if result.status != "completed":
        return result
    return msgspec.structs.replace(result, status="failed", error=Fault("task", message))


def costs(result: Result) -> str:
    """Return on one line what a run took."""
    usage = result.usage
    return (
        f"{usage.requests:,} requests, {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out, "
        f"cost {dollars(0.0 if not usage.requests else result.cost_usd)}"
    )
