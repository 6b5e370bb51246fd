"""Drive a run from the command line: show its progress, stop it on Ctrl-C, tell how it ended."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

from sonde.cli.output import EXIT_CODES, finish, say
from sonde.cli.progress import Progress
from sonde.engine.approval import Person
from sonde.engine.result import Result
from sonde.engine.run import Surroundings, standing
from sonde.record.report import summary_lines
from sonde.record.write import SUMMARY

Work = Callable[[Surroundings], Awaitable[Result]]


def drive(work: Work, around: Surroundings, *, as_json: bool, quiet: bool) -> int:
    """Run `work` and return the exit code. The first Ctrl-C stops it in order, a second one at once."""
    progress = Progress(quiet=quiet)
    around = around._replace(listeners=(progress.listen,), person=_in_quiet(around.person, progress))
    try:
        result = asyncio.run(_until_stopped(work, around, progress))
    except asyncio.CancelledError:
        if not progress.run_id:
            return EXIT_CODES["cancelled"]
        result = standing(around.runs / progress.run_id)
    if not (quiet or as_json):
        _sum_up(result)
    return finish(result, as_one_object=as_json)


def _sum_up(result: Result) -> None:
    """Say what the run came to, if its files were written."""
    try:
        summary = json.loads((Path(result.run_dir) / SUMMARY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    if summary["status"] == result.status:  # else the file is of an earlier life
        for line in summary_lines(summary):
            say(line)


def _in_quiet(person: Person | None, progress: Progress) -> Person | None:
    """Return who asks a person something, with nothing drawn meanwhile."""
    if person is None:
        return None

    async def ask(question: str, subject: str) -> str:
        progress.pause()
        try:
            return await person(question, subject)
        finally:
            progress.go_on()

    return ask


async def _until_stopped(work: Work, around: Surroundings, progress: Progress) -> Result:
    task = asyncio.ensure_future(work(around))
    shown = asyncio.ensure_future(progress.show())

    def stop() -> None:
        if task.cancelling():
            os._exit(130)
        task.cancel()

    loop = asyncio.get_running_loop()
    for which in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(which, stop)
    try:
        return await task
    finally:
        shown.cancel()
        with suppress(asyncio.CancelledError):
            await shown
