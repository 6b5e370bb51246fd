"""Show on stderr how a run is getting on."""

import asyncio
import shutil
import sys
import time
from collections import deque

from sonde.cli.output import dollars, harmless, say, seconds
from sonde.events import InputAttached, Logged, PhaseStarted, Record, RunResumed, RunStarted, Warned
from sonde.views.summary import Summary

_REDRAW_S = 0.2
_LINE_S = 10.0
_MOST_HELD = 1000


class Progress:
    """Listens to a run. In a terminal one line is drawn again and again; elsewhere there is a line now and then."""

    def __init__(self, *, quiet: bool) -> None:
        self.run_id = ""
        self._held: deque[str] | None = None
        """What is said only later, since somebody is being asked something: a line of code's must not pass for that."""
        self._quiet = quiet
        self._in_place = sys.stderr.isatty() and not quiet
        self._summary = Summary()
        self._began = time.monotonic()

    def listen(self, record: Record) -> None:
        """Take in what happened."""
        self._summary.add(record)
        self.run_id = record.fact.run_id if isinstance(record.fact, RunStarted | RunResumed) else self.run_id
        if self._quiet:
            return
        match record.fact:
            case RunStarted(run_id=run_id):
                say(f"run {run_id}")
            case RunResumed(unfinished=unfinished):
                again = f"; {unfinished:,} requests were on the wire and are sent again" if unfinished else ""
                say(f"resuming{again}")
            case InputAttached(source=source, chars=chars, lines=lines) if len(self._summary.inputs) <= 5:
                say(f"input {source}: {chars:,} characters, {lines:,} lines")
            case Warned(code=code, message=message) if code != "internal":
                self._say(f"note: {message}")
            case PhaseStarted(name=name):
                self._say(f"phase: {name}")
            case Logged(text=text):
                self._say(text)
            case _:
                pass

    def pause(self) -> None:
        """Draw and say nothing, since somebody is being asked something."""
        self._clear()
        self._held = deque(maxlen=_MOST_HELD)

    def go_on(self) -> None:
        """Say what there was to say meanwhile."""
        held, self._held = self._held or (), None
        for text in held:
            self._say(text)

    def _say(self, text: str) -> None:
        if self._held is not None:
            self._held.append(text)
            return
        self._clear()
        say(text)

    async def show(self) -> None:
        """Draw until cancelled."""
        if self._quiet:
            return
        try:
            while True:
                await asyncio.sleep(_REDRAW_S if self._in_place else _LINE_S)
                if self._held is None:
                    self._draw()
        finally:
            self._clear()

    def _draw(self) -> None:
        line = self._line()
        if self._in_place:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(f"\r\x1b[K{harmless(line)[:width]}")
            sys.stderr.flush()
        else:
            say(line)

    def _line(self) -> str:
        summary, coverage = self._summary, self._summary.coverage
        parts = [seconds(time.monotonic() - self._began), f"turn {summary.turns}"]
        if coverage.items:
            parts.append(f"{coverage.done:,} of {coverage.items:,} calls")
        if coverage.failed:
            parts.append(f"{coverage.failed:,} failed")
        if summary.retries:
            parts.append(f"{summary.retries:,} retries")
        parts.append(f"{summary.usage.input_tokens:,} tokens in, {summary.usage.output_tokens:,} out")
        if summary.cost_usd:
            parts.append(dollars(summary.cost_usd))
        return " · ".join(parts)

    def _clear(self) -> None:
        if self._in_place:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
