"""Cassettes: what models answered, recorded once and played again without them.

A file of JSON lines: a header, then a line for each request's hash and the reply or the error it had. A line is written
at once and whole, so what a kill leaves behind is every line but perhaps the last: one without its line end is dropped.
Requests are not kept, nor is anything that a connection knows, such as its key.
"""

import asyncio
import errno
import hashlib
import os
import stat
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sonde import jsontext
from sonde.errors import ModelChoiceError, ModelError, ModelFault, RunError
from sonde.models.names import Choice
from sonde.models.protocol import BEGIN_WITH, Model, Reply, Request
from sonde.version import __version__

FORMAT = 1

_ASKED_CHARS = 80
_HEADER_BYTES = 1000


class _Header(msgspec.Struct):
    cassette: int
    version: str = ""


class _Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    fault: ModelFault
    what: str
    remedy: str = ""
    retry_after: float | None = None


class _Taken(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request and what came of it. `model` and `asked` are for people who look into the file."""

    request: str
    model: str
    asked: str
    reply: Reply | None = None
    failure: _Failure | None = None


class Tape:
    """A cassette being recorded: one for all models of a run. `path` may be one that holds earlier replies.

    Raises `ModelChoiceError` if it cannot be a cassette.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._size = _whole_size(path) if path.exists() else 0
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            if stat.S_ISREG(os.fstat(self._file).st_mode):  # not of a device
                os.fchmod(self._file, 0o600)
            os.ftruncate(self._file, self._size)
        except OSError as error:
            raise ModelChoiceError(f"cannot record to {path}: {error.strerror}", "Check the path.") from error
        if self._size == 0:
            self._append(_Header(FORMAT, __version__))

    def add(self, model: str, request: Request, outcome: Reply | ModelError) -> None:
        """Write down what came of a request. Raises `RunError` if the file cannot be written."""
        reply, failure = None, None
        if isinstance(outcome, Reply):
            reply = outcome
        else:
            failure = _Failure(outcome.fault, outcome.what, outcome.remedy, outcome.retry_after)
        self._append(_Taken(_hash(request), model, _asked(request), reply, failure))

    def close(self) -> None:
        """Flush to the disk and close."""
        os.fsync(self._file)
        os.close(self._file)

    def _append(self, line: _Header | _Taken) -> None:
        content = jsontext.encode(line) + b"\n"
        try:
            written = os.write(self._file, content)
            if written < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            os.ftruncate(self._file, self._size)
            what = f"cannot record to {self._path}: {error.strerror}"
            raise RunError(what, "Free some space, then `sonde resume` the run.") from error
        self._size += len(content)


class Recording:
    """A model whose replies and errors go to a tape. The tape is closed by who opened it."""

    def __init__(self, model: Model, tape: Tape) -> None:
        self._model = model
        self._tape = tape

    @property
    def name(self) -> str:
        """The model as the user named it."""
        return self._model.name

    @property
    def endpoint(self) -> str:
        """The server that is asked."""
        return self._model.endpoint

    @property
    def begins_with(self) -> int:
        """How many requests the server is sent at once at first."""
        return self._model.begins_with

    async def complete(self, request: Request, timeout_s: float) -> Reply:
        """Send one request and record what came of it. Raises `ModelError`, or `RunError` if it cannot be recorded."""
        try:
            reply = await self._model.complete(request, timeout_s)
        except ModelError as error:
            self._tape.add(self.name, request, error)
            raise
        self._tape.add(self.name, request, reply)
        return reply

    async def close(self) -> None:
        """Let go of all connections."""
        await self._model.close()


class Replay:
    """Plays a cassette: equal requests get their replies and errors in the order of the recording, each once.

    Raises `ModelChoiceError` if the file cannot be played.
    """

    def __init__(self, name: str, path: Path) -> None:
        self._name = name
        self._path = path
        self._left: dict[str, deque[_Taken]] = {}
        for taken in _takes(path):
            self._left.setdefault(taken.request, deque()).append(taken)

    @property
    def name(self) -> str:
        """The model as the user named it."""
        return self._name

    @property
    def endpoint(self) -> str:
        """The file, which has no rate limit."""
        return str(self._path)

    @property
    def begins_with(self) -> int:
        """As many as a server."""
        return BEGIN_WITH

    async def complete(self, request: Request, timeout_s: float) -> Reply:
        """Return the next reply to a request. Raises the `ModelError` it had, or one that there is none left."""
        await asyncio.sleep(0)  # others get their turn, as they would with a server
        left = self._left.get(_hash(request))
        if not left:
            none = "no reply" if left is None else "no further reply"
            what = f"the cassette {self._path} holds {none} to this request: {_asked(request)!r}"
            raise ModelError("refused", what, "Play it to the command it was recorded from, or record it again.")
        taken = left.popleft()
        if taken.reply is not None:
            return taken.reply
        failure = taken.failure
        assert failure is not None, "checked when it was loaded"
        raise ModelError(failure.fault, failure.what, failure.remedy, retry_after=failure.retry_after)

    async def close(self) -> None:
        """Nothing to do: the file was read when it was opened."""


def check(choice: Choice) -> None:
    """Raise `ModelChoiceError` if a file cannot be played."""
    _check_file(Path(choice.name))


def make(choice: Choice) -> Replay:
    """Return the model that plays a file. Raises `ModelChoiceError`."""
    return Replay(choice.text, Path(choice.name))


def _check_file(path: Path) -> None:
    """Raise `ModelChoiceError` if a file does not begin as a cassette does."""
    try:
        with path.open("rb") as file:
            header = file.readline(_HEADER_BYTES)
    except OSError as error:
        raise ModelChoiceError(f"cannot read the cassette {path}: {error.strerror}", "Check the path.") from error
    try:
        found = jsontext.decode(header, _Header)
    except msgspec.DecodeError:
        found = _Header(0)
    if found.cassette < 1 or not header.endswith(b"\n"):
        raise ModelChoiceError(f"{path} is not a cassette", "Record one with --record FILE.")
    if found.cassette > FORMAT:
        raise ModelChoiceError(f"the cassette {path} was recorded by a newer Sonde, {found.version}", "Update Sonde.")


def _whole_size(path: Path) -> int:
    """Return the size of all whole lines of a cassette; 0 if there is nothing yet. Raises `ModelChoiceError`."""
    if path.stat().st_size == 0:
        return 0
    _check_file(path)
    with path.open("rb") as file:
        return sum(len(line) for line in file if line.endswith(b"\n"))


def _takes(path: Path) -> Iterator[_Taken]:
    _check_file(path)
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1 or not line.endswith(b"\n"):
                continue
            try:
                taken = jsontext.decode(line, _Taken)
            except msgspec.DecodeError as error:
                what = f"line {number:,} of the cassette {path} is damaged: {error}"
                raise ModelChoiceError(what, "Record it again.") from error
            if (taken.reply is None) == (taken.failure is None):
                raise ModelChoiceError(f"line {number:,} of the cassette {path} is damaged", "Record it again.")
            yield taken


def _hash(request: Request) -> str:
    """Return what makes two requests the same. Which model is asked is no part of it: a replay has another name."""
    return hashlib.blake2b(jsontext.encode(request), digest_size=16).hexdigest()


def _asked(request: Request) -> str:
    return " ".join(request.messages[-1].text.split())[:_ASKED_CHARS]
