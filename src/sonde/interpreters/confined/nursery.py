"""The host's side of the process that interpreters are born from; see `child/nursery.py`.

It is started clean: an empty environment, no descriptors but one socket, none of our memory. So nothing that we know
can be in what it forks.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections import deque
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, pidfd_send_signal
from typing import IO, Any

from sonde.errors import InterpreterError
from sonde.interpreters.protocol import Settings

_FOLDERS = [str(Path(__file__).parents[3]), *(folder for folder in sys.path if Path(folder).is_absolute())]
_BOOT = (
    f"import gc, sys; gc.disable(); sys.path.extend({_FOLDERS!r});"
    " from sonde.interpreters.confined.child.nursery import run; run(int(sys.argv[1]))"
)
_TAIL = 2000
# A process with threads cannot be forked safely.
_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}


class Born:
    """A process that was forked for us. `ended` gets its exit status, negative for a signal."""

    def __init__(self, pid: int, handle: int) -> None:
        self.pid = pid
        self.ended: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._handle = handle

    def kill(self) -> None:
        """Kill it, if it still lives."""
        if self._handle >= 0:
            with suppress(ProcessLookupError):
                pidfd_send_signal(self._handle, SIGKILL)

    def note_end(self, status: int) -> None:
        """Note that it has ended."""
        os.close(self._handle)
        self._handle = -1
        if not self.ended.done():
            self.ended.set_result(status)


class Nursery:
    """Forks interpreters. Belongs to the event loop it was started in."""

    def __init__(self, language: str, settings: Settings) -> None:
        self.settings = settings
        self._loop = asyncio.get_running_loop()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - kept open as long as the process
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        # Interpreters can add to what was said, but not read what others said.
        with theirs, Path(f"/proc/self/fd/{self._stderr.fileno()}").open("ab") as last_words:
            self._process = _start(theirs.fileno(), last_words)
        self._control.setblocking(False)
        folders = [folder for folder in sys.path if folder]
        told = {"language": language, "packages": settings.packages, "folders": folders}
        self._control.send(json.dumps(told).encode())
        self._expected: deque[asyncio.Future[Born]] = deque()
        self._alive: dict[int, Born] = {}
        self._loop.add_reader(self._control, self._hear)

    async def fork(self, frames: int, files: int) -> Born:
        """Return a new interpreter process that has these two descriptors. Raises `InterpreterError`."""
        born: asyncio.Future[Born] = self._loop.create_future()
        wanted = {"heap_bytes": self.settings.heap_bytes, "confined": self.settings.confined}
        try:
            socket.send_fds(self._control, [json.dumps(wanted).encode()], [frames, files])
        except OSError as error:
            raise self._failed() from error
        self._expected.append(born)
        return await born

    def last_words(self) -> str:
        """Return what was last written to standard error."""
        self._stderr.seek(max(0, self._stderr.seek(0, os.SEEK_END) - _TAIL))
        return self._stderr.read().decode("utf-8", "replace").strip()

    async def close(self) -> None:
        """Kill it and all that it brought up."""
        for born in list(self._alive.values()):
            born.kill()
        self._stop_hearing()
        self._process.kill()
        await asyncio.to_thread(self._process.wait)
        self._stderr.close()

    def _hear(self) -> None:
        try:
            message, descriptors, _, _ = socket.recv_fds(self._control, 65_536, 1)
        except BlockingIOError:
            return
        except OSError:
            message, descriptors = b"", []
        told: dict[str, Any] = json.loads(message) if message else {"failed": "it ended"}
        if "born" in told:
            self._note_birth(told["born"], descriptors[0])
        elif "ended" in told:
            self._alive.pop(told["ended"]).note_end(told["status"])
        else:
            self._note_failure(told["failed"])

    def _note_birth(self, pid: int, handle: int) -> None:
        self._alive[pid] = born = Born(pid, handle)
        expected = self._expected.popleft()
        if expected.cancelled():
            born.kill()
        else:
            expected.set_result(born)

    def _note_failure(self, why: str) -> None:
        """Tell all who wait; nobody will be born any more, and the kernel kills those who were."""
        self._stop_hearing()
        for expected in self._expected:
            if not expected.done():
                expected.set_exception(self._failed(why))
        for born in self._alive.values():
            born.note_end(-SIGKILL)
        self._alive.clear()

    def _stop_hearing(self) -> None:
        if self._control.fileno() >= 0:
            self._loop.remove_reader(self._control)
            self._control.close()

    def _failed(self, why: str = "it ended") -> InterpreterError:
        said = self.last_words().splitlines()[-1:]
        return InterpreterError(
            f"the interpreter did not start: {': '.join([why, *said])}", "`sonde doctor` tells more."
        )


def _start(control: int, stderr: IO[bytes]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            [sys.executable, "-s", "-S", "-P", "-c", _BOOT, str(control)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            pass_fds=(control,),
            env={"PYTHONHASHSEED": "0", **_ONE_THREAD},
            start_new_session=True,
        )
    except OSError as error:
        raise InterpreterError(f"cannot start {sys.executable}: {error.strerror}") from error
