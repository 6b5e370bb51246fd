"""What models were asked and what they said: one line for each call, to train on."""

from collections.abc import Iterator
from typing import Any

import msgspec

from sonde import jsontext
from sonde.events import (
    ROOT,
    TURN,
    AgentFinished,
    CallFinished,
    CallStarted,
    Record,
    RunFinished,
    RunResumed,
    Stored,
)
from sonde.journal.reader import Reader
from sonde.record.as_json import quoted, raw
from sonde.record.replies import said_in
from sonde.views.calls import Live


class Training:
    """A fold of records. Turns are told with all messages that led up to them but the system prompt, which is the same
    for a version of Sonde. It holds what the agents at work were told, and what is under way."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._live = Live()
        self._news: dict[str, dict[int, Stored]] = {}
        self._open: dict[int, tuple[CallStarted, float]] = {}

    def lines(self, record: Record) -> Iterator[bytes]:
        """Take in the next record and yield the line of a call that ended with it. Raises `JournalError`."""
        self._live.add(record)
        match record.fact:
            case CallStarted() as started if started.function in {TURN, "llm"}:
                self._open[started.call] = started, record.at
                if started.function == TURN:
                    self._news.setdefault(started.agent, {})[started.cell] = started.request
            case CallFinished() as finished if finished.call in self._open:
                started, began = self._open.pop(finished.call)
                if finished.usage.requests or finished.usage.unreported_tokens:
                    yield self._line(started, finished, record.at - began)
            case AgentFinished(agent=agent, status="completed") if agent != ROOT:
                self._news.pop(agent, None)
            case RunResumed() | RunFinished():
                self._open.clear()
            case _:
                pass

    def _line(self, started: CallStarted, finished: CallFinished, duration: float) -> bytes:
        used = finished.usage
        plain: dict[str, Any] = {
            "call": started.call,
            "agent": started.agent,
            "depth": self._live.depth(started.agent),
            "function": started.function,
            "prompt": self._prompt(started),
            "response": self._response(started, finished),
            "model": finished.model or started.model,
            "tokens": {"input": used.input_tokens, "output": used.output_tokens, "cached": used.cached_tokens},
            "duration_s": round(duration, 6),
            "success": finished.status == "ok",
        }
        if finished.cost_usd is not None:
            plain["cost_usd"] = finished.cost_usd
        if finished.fault is not None:
            plain["error"] = quoted(finished.fault.message)
        return msgspec.json.encode(plain)

    def _prompt(self, started: CallStarted) -> object:
        if started.function != TURN:
            return quoted(self._reader.text(started.request))
        news = self._news.get(started.agent, {})
        messages: list[Any] = []
        for turn in sorted(news):
            if turn <= started.cell:
                messages += jsontext.decode(self._reader.text(news[turn]), list[Any])
        return msgspec.Raw(jsontext.encode_valid(messages))

    def _response(self, started: CallStarted, finished: CallFinished) -> object:
        if finished.value is None:
            return None
        if started.function != TURN:
            return raw(finished.value, self._reader)
        said = said_in(self._reader.text(finished.value))
        message: dict[str, Any] = {"role": "assistant", "text": said.text}
        if said.tool_calls:
            message["tool_calls"] = said.tool_calls
        return msgspec.Raw(jsontext.encode_valid(message))
