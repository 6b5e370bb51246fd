"""What one subagent was told and said: its session, named by the call that sent it."""

import re
from typing import Any, NamedTuple

from sonde import jsontext
from sonde.events import TURN, AgentFinished, AgentStarted, CallFinished, CallReused, CallStarted, Record, Stored
from sonde.journal.reader import Reader
from sonde.record.replies import said_in

_REFERENCE = re.compile(r"session://([^/]+)/(\d+)")


class SessionName(NamedTuple):
    """The run and the call that a reference names."""

    run: str
    call: int


def read_reference(text: str) -> SessionName | None:
    """Return what `session://RUN/CALL` names; None for any other text."""
    found = _REFERENCE.fullmatch(text)
    return None if found is None else SessionName(found[1], int(found[2]))


class Sent:
    """A fold of records in order: which agent a call sent. It may have begun its work in an earlier life, when another
    call sent it."""

    def __init__(self, call: int) -> None:
        self.agent: AgentStarted | None = None
        self._call = call

    def add(self, record: Record) -> None:
        """Take in the next record."""
        if isinstance(record.fact, AgentStarted) and record.fact.call == self._call:
            self.agent = record.fact


class Session:
    """A fold of records in order. It holds what is known of one call, and of the agent that it sent, if it sent one."""

    def __init__(self, call: int, agent: AgentStarted | None) -> None:
        self.source: int | None = None
        """The earlier call whose result answered this one, if one did."""
        self.asked: CallStarted | None = None
        self.finished: CallFinished | None = None
        self.agent = agent
        self.status = "running"
        self._call = call
        self._turns: dict[int, Stored] = {}
        self._open: dict[int, int] = {}
        self._said: dict[int, Stored] = {}

    def add(self, record: Record) -> None:
        """Take in the next record."""
        match record.fact:
            case CallStarted() as started:
                if started.call == self._call:
                    self.asked = started
                elif self._is_ours(started.agent) and started.function == TURN:
                    self._turns[started.cell] = started.request
                    self._open[started.call] = started.cell
            case CallFinished() as finished:
                if finished.call == self._call:
                    self.finished = finished
                elif finished.call in self._open and finished.value is not None:
                    self._said[self._open[finished.call]] = finished.value
            case CallReused(call=call, source=source) if call == self._call:
                self.source = source
            case AgentFinished(agent=path, status=status) if self._is_ours(path):
                self.status = status
            case _:
                pass

    def messages(self, reader: Reader) -> list[dict[str, Any]]:
        """Return the conversation but for the system prompt. Raises `JournalError`."""
        messages: list[dict[str, Any]] = []
        for turn in sorted(self._turns):
            messages += jsontext.decode(reader.text(self._turns[turn]), list[Any])
        last = max(self._turns, default=0)
        if last in self._said:
            said = said_in(reader.text(self._said[last]))
            calls = {"tool_calls": said.tool_calls} if said.tool_calls else {}
            messages.append({"role": "assistant", "text": said.text, **calls})
        return messages

    def _is_ours(self, path: str) -> bool:
        return self.agent is not None and path == self.agent.agent
