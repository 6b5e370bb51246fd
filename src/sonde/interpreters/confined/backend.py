"""Interpreters that are processes of their own: forked, confined, and watched from here.

Input files are handed over as open descriptors, one by one as the code reads them, so the process never needs a path.
"""

import asyncio
import json
import math
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from sonde.errors import InterpreterError
from sonde.interpreters.bridge import BadFrame, Bridge
from sonde.interpreters.confined.nursery import Born, Nursery
from sonde.interpreters.protocol import CellError, CellResult, GuestWorld, HostCalls, Settings

_GRACE_S = 0.5
_STALLED_SHARE = 0.05
_LOOK_S, _LOOK_AGAIN_S = 0.2, 0.5  # in less, a process that gets no processor looks like one that wants none


class _Seen(NamedTuple):
    """What a process had done when it was last looked at."""

    cpu_s: float
    sent_bytes: int
    answered: int
    """What it had been answered."""


class _Overdue(Exception):
    """The cell did not end when it was told that its time is up."""


class _Stalled(Exception):
    """The cell neither computes nor waits for a call of the host's."""


class ConfinedBackend:
    """Opens interpreters of one language; all are forked from one process, which starts with the first."""

    def __init__(self, language: str, settings: Settings) -> None:
        self._language = language
        self._settings = settings
        self._nursery: Nursery | None = None
        self._opened: list[ConfinedInterpreter] = []

    def start(self) -> None:
        """Begin to load, so that the first interpreter is ready sooner."""
        if self._nursery is None:
            self._nursery = Nursery(self._language, self._settings)

    async def open(self, world: GuestWorld) -> "ConfinedInterpreter":
        """Open an interpreter. Raises `InterpreterError`."""
        self.start()
        assert self._nursery is not None
        interpreter = await ConfinedInterpreter.open(self._nursery, world)
        self._opened = [each for each in self._opened if each.is_open]
        self._opened.append(interpreter)
        return interpreter

    async def close(self) -> None:
        """End all interpreters."""
        if self._nursery is not None:
            await asyncio.gather(*[each.close() for each in self._opened])
            await self._nursery.close()
            self._nursery = None


class ConfinedInterpreter:
    """An interpreter in a process of its own. See `Interpreter` for the lifecycle."""

    def __init__(self, nursery: Nursery, process: Born, bridge: Bridge, files: "_FileService") -> None:
        self._nursery = nursery
        self._process = process
        self._bridge = bridge
        self._files = files
        self._loop = asyncio.get_running_loop()
        self._cells = 0
        self._deadline = math.inf
        """How much processor time the process may have used when its cell is over; infinity between cells."""
        self._seen: _Seen | None = None
        self._alarm = self._loop.call_later(_LOOK_AGAIN_S, self._look, _LOOK_AGAIN_S)

    @classmethod
    async def open(cls, nursery: Nursery, world: GuestWorld) -> "ConfinedInterpreter":
        """Fork one. Returns before it is ready: it gets ready while the host does other things."""
        ours, theirs = socket.socketpair()
        our_files, their_files = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs, their_files:
            try:
                process = await nursery.fork(theirs.fileno(), their_files.fileno())
            except BaseException:
                ours.close()
                our_files.close()
                raise
        _, bridge = await asyncio.get_running_loop().create_unix_connection(Bridge, sock=ours)
        inputs = [(each.name, each.mark, each.blocks) for each in world.inputs]
        told: dict[str, Any] = {"inputs": inputs, "budget": world.budget, "seed": world.seed, "started": world.started}
        told |= {"agents": world.agents, "tools": world.tools, "args": world.args, "most_items": world.most_items}
        told |= {"heap_bytes": nursery.settings.heap_bytes, "is_workflow": world.is_workflow}
        bridge.send({"world": told})
        return cls(nursery, process, bridge, _FileService(our_files, world.open_file))

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    @property
    def is_open(self) -> bool:
        """Whether its process lives, as far as is known."""
        return not self._process.ended.done()

    @property
    def layers(self) -> list[str]:
        """The layers of confinement that hold, once the first cell has run."""
        return self._bridge.layers or []

    async def run(
        self, code: str, calls: HostCalls, *, cpu_s: float, replaying: bool = False, number: int | None = None
    ) -> CellResult:
        """Run one cell; see `Interpreter.run`."""
        self._cells = self._cells + 1 if number is None else number
        self._deadline = self._cpu_time() + cpu_s + _GRACE_S
        self._seen = None
        cell = {"number": self._cells, "code": code, "replaying": replaying, "cpu_s": cpu_s}
        try:
            return await self._bridge.run(cell, calls)
        except _Overdue:
            await self.close()
            message = f"the cell used more than {cpu_s:g} s of processor time and could not be interrupted"
            return CellResult("killed", error=CellError("Timeout", message))
        except _Stalled:
            await self.close()
            return CellResult("killed", error=CellError("Deadlock", "the cell waits for something that cannot come"))
        except BadFrame as error:
            await self.close()
            return CellResult("killed", error=CellError("BadFrame", str(error)))
        except ConnectionError:
            return await self._died()
        finally:
            self._deadline = math.inf
            self._seen = None

    async def close(self) -> None:
        """Kill the process and wait until it is gone."""
        self._alarm.cancel()
        self._bridge.close()
        self._files.close()
        self._process.kill()
        await asyncio.shield(self._process.ended)

    async def _died(self) -> CellResult:
        """Return how the process ended. Raises `InterpreterError` if it never began."""
        await self.close()
        code = await self._process.ended
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if self._bridge.layers is None:
            said = self._nursery.last_words().splitlines()[-1:] or ["it said nothing"]
            raise InterpreterError(f"the interpreter did not start ({how}): {said[0]}", "Try `sonde doctor`.")
        return CellResult("killed", error=CellError("InterpreterDied", f"the interpreter ended ({how})"))

    def _look(self, waited_s: float) -> None:
        """See what the process has done since the last look, again and again. A timer for each cell would cost more
        than many a cell."""
        before, self._seen = self._seen, _Seen(self._cpu_time(), self._bridge.received_bytes, self._bridge.answered)
        left = self._deadline - self._seen.cpu_s - self._bridge.spent_s
        rest = min(max(left, _LOOK_S), _LOOK_AGAIN_S)
        if left <= 0:
            self._bridge.break_off(_Overdue())
        elif self._deadline == math.inf:
            self._look_at_rest(before, waited_s)
        elif before is not None and self._has_stalled(before, self._seen, waited_s):
            self._bridge.break_off(_Stalled())
        self._alarm = self._loop.call_later(rest, self._look, rest)

    def _look_at_rest(self, before: _Seen | None, waited_s: float) -> None:
        """Kill a process that goes on computing when its cell has ended, as one can that forged the end."""
        if before is not None and self._seen is not None and self._seen.cpu_s - before.cpu_s > waited_s / 2:
            self._process.kill()

    def _has_stalled(self, before: _Seen, now: _Seen, seconds: float) -> bool:
        """Whether it neither computes nor waits for us. One that could run and got no processor has not stalled."""
        return (
            now.cpu_s - before.cpu_s < seconds * _STALLED_SHARE
            and now.sent_bytes == before.sent_bytes
            and now.answered == before.answered
            and not self._bridge.owes_answers
            and not self._could_run()
        )

    def _could_run(self) -> bool:
        """Whether the process waits for a processor, or for its memory to come from the disk; asked of Linux."""
        with suppress(OSError):
            state = Path(f"/proc/{self._process.pid}/stat").read_bytes().rpartition(b") ")[2][:1]
            return state in {b"R", b"D"}
        return False

    def _cpu_time(self) -> float:
        """Return the processor time that the process has used, in seconds (Linux: a clock made of the process id)."""
        try:
            return time.clock_gettime((~self._process.pid << 3) | 2)
        except OSError:
            return 0.0


class _FileService:
    """Hands open descriptors of input files to the process that asks for them."""

    def __init__(self, connection: socket.socket, open_file: Callable[[int], int]) -> None:
        self._connection = connection
        self._open_file = open_file
        self._loop = asyncio.get_running_loop()
        connection.setblocking(False)
        self._loop.add_reader(connection, self._serve)

    def close(self) -> None:
        """Serve nobody any more."""
        if self._connection.fileno() >= 0:
            self._loop.remove_reader(self._connection)
            self._connection.close()

    def _serve(self) -> None:
        """Answer one request. Whoever asks for what it does not take, or not as it should, is served no more."""
        try:
            asked = self._connection.recv(5)
            if len(asked) == 4:
                self._hand_over(int.from_bytes(asked, "little"))
                return
        except OSError:
            pass
        self.close()

    def _hand_over(self, number: int) -> None:
        try:
            descriptor = self._open_file(number)
        except (OSError, IndexError) as error:
            told = (getattr(error, "errno", 0), getattr(error, "strerror", "no such input"))
            self._connection.send(json.dumps(told).encode())
            return
        try:
            socket.send_fds(self._connection, [b"+"], [descriptor])
        finally:
            os.close(descriptor)
