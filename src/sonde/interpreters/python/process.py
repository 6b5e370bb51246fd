"""Start the separate interpreter and watch over it.

It is a clean process: an empty environment, no inherited descriptors but two sockets, none of our memory. Input files
are handed to it as open descriptors, one by one as it reads them, so it never needs a path.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import IO

from sonde.errors import InterpreterError
from sonde.interpreters.bridge import Bridge
from sonde.interpreters.protocol import CellError, CellResult, GuestWorld, HostCalls

_PACKAGES = Path(__file__).parents[3]
_BOOT = (
    f"import sys; sys.path.append({str(_PACKAGES)!r}); from sonde.interpreters.python.child.main import serve;"
    " sys.path.pop(); serve(int(sys.argv[1]), int(sys.argv[2]))"
)
_TAIL = 2000


class _TimedOut(Exception):
    """The cell used up its processor time."""


class PythonInterpreter:
    """A CPython of its own. See `Interpreter` for the lifecycle."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        bridge: Bridge,
        files: "_FileService",
        stderr: IO[bytes],
    ):
        self._process = process
        self._bridge = bridge
        self._files = files
        self._stderr = stderr
        self._loop = asyncio.get_running_loop()
        self._alarm: asyncio.TimerHandle
        self._cells = 0

    @classmethod
    async def open(cls, world: GuestWorld) -> "PythonInterpreter":
        """Start one. Returns before it is ready: it loads while the host does other things."""
        ours, theirs = socket.socketpair()
        our_files, their_files = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        stderr = tempfile.TemporaryFile()  # noqa: SIM115 - kept open as long as the process
        with theirs, their_files:
            process = _start(theirs.fileno(), their_files.fileno(), stderr)
        _, bridge = await asyncio.get_running_loop().create_unix_connection(Bridge, sock=ours)
        inputs = [(each.name, each.mark, each.blocks) for each in world.inputs]
        told = {
            "inputs": inputs,
            "budget": world.budget,
            "seed": world.seed,
            "started": world.started,
        }
        bridge.send({"world": told})
        return cls(process, bridge, _FileService(our_files, world.open_file), stderr)

    async def run(self, code: str, calls: HostCalls, *, cpu_s: float, replaying: bool = False) -> CellResult:
        """Run one cell; see `Interpreter.run`."""
        self._cells += 1
        self._watch(self._cpu_time() + cpu_s)
        try:
            return await self._bridge.run({"number": self._cells, "code": code, "replaying": replaying}, calls)
        except _TimedOut:
            await self.close()
            message = f"the cell used more than {cpu_s:g} s of processor time"
            return CellResult("timeout", error=CellError("Timeout", message))
        except ConnectionError:
            return await self._died()
        finally:
            self._alarm.cancel()

    async def close(self) -> None:
        """Kill the process and wait until it is gone."""
        self._bridge.close()
        self._files.close()
        self._process.kill()
        await asyncio.to_thread(self._process.wait)
        self._stderr.close()

    async def _died(self) -> CellResult:
        """Return how the process ended. Raises `InterpreterError` if it never began."""
        self._process.kill()
        code = await asyncio.to_thread(self._process.wait)
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - _TAIL))
        last_words = self._stderr.read().decode("utf-8", "replace").strip()
        await self.close()
        if not self._bridge.ready:
            why = last_words.splitlines()[-1:] or ["it said nothing"]
            raise InterpreterError(f"the Python interpreter did not start ({how}): {why[0]}", "Try `sonde doctor`.")
        return CellResult("killed", error=CellError("InterpreterDied", f"the interpreter ended ({how})", last_words))

    def _watch(self, deadline: float) -> None:
        """Break the cell off when the process has used its time; until then, look again when that could be."""
        left = deadline - self._cpu_time()
        if left <= 0:
            self._bridge.break_off(_TimedOut())
        else:
            self._alarm = self._loop.call_later(left, self._watch, deadline)

    def _cpu_time(self) -> float:
        """Return the processor time that the process has used, in seconds (Linux: a clock made of the process id)."""
        try:
            return time.clock_gettime((~self._process.pid << 3) | 2)
        except OSError:
            return 0.0


def _start(frames: int, files: int, stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [sys.executable, "-s", "-S", "-P", "-c", _BOOT, str(frames), str(files)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            pass_fds=(frames, files),
            env={"PYTHONHASHSEED": "0"},
            start_new_session=True,
        )
    except OSError as error:
        raise InterpreterError(f"cannot start {sys.executable}: {error.strerror}") from error


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
        try:
            asked = self._connection.recv(4)
            if len(asked) != 4:
                self.close()
                return
            self._hand_over(int.from_bytes(asked, "little"))
        except BlockingIOError:
            return

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
