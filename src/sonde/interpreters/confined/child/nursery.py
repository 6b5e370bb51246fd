"""The process that interpreters are born from: clean, with all modules loaded, and never running a line of a cell.

The host asks it over a socket for one more interpreter; it forks, which takes a millisecond where starting anew takes a
hundred or more, and what it has loaded is shared. It hears of the end of each and tells the host.
"""

import gc
import json
import os
import select
import signal
import socket
import struct
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol, cast

from .confine import confine, die_with_parent
from .session import Runner, World, serve
from .wire import Wire

FRAMES, FILES = 3, 4  # the descriptors of an interpreter's two sockets
_SEND_FOR = struct.pack("@ll", 0, 20_000)  # seconds and microseconds, until it is worth a look whether the host waits


class Language(Protocol):
    """The module of a language."""

    def prepare(self, packages: list[str], folders: list[str]) -> None:
        """Load all that its interpreters will need; they can read no file. Raises `ImportError`."""
        ...

    def begin(self, wire: Wire, world: World) -> Runner:
        """Make the runner of one interpreter."""
        ...


def run(control: int) -> None:
    """Bring up interpreters until the host closes the socket."""
    die_with_parent()
    host = socket.socket(fileno=control)
    settings = json.loads(host.recv(65_536))
    _load_asyncio()
    language = cast("Language", import_module(f"sonde.interpreters.{settings['language']}.child.serve"))
    try:
        language.prepare(settings["packages"], settings["folders"])
    except ImportError as error:
        host.send(json.dumps({"failed": str(error)}).encode())
        return
    sys.path.clear()
    os.environ.clear()
    gc.collect()
    gc.freeze()
    gc.enable()  # it was off from the start: what is loaded is no garbage
    _serve_host(host, language)


def _load_asyncio() -> None:
    """Load asyncio without ssl, which takes a tenth of all loading: it does without, and cells reach no network."""
    cast("dict[str, Any]", sys.modules)["ssl"] = None
    import_module("asyncio")
    del sys.modules["ssl"]


def _serve_host(host: socket.socket, language: Language) -> None:
    ended, wake = socket.socketpair()
    for each in (ended, wake):
        each.setblocking(False)
    signal.set_wakeup_fd(wake.fileno())
    signal.signal(signal.SIGCHLD, _wake)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([host, ended], [], [])
        if ended in ready:
            with suppress(BlockingIOError):
                ended.recv(4096)
            _tell_ended(host)
        if host in ready:
            message, descriptors, _, _ = socket.recv_fds(host, 4096, 2)
            if not message:
                return
            _bear(host, language, json.loads(message), descriptors)


def _wake(signum: int, frame: object) -> None:
    """A handler is needed for the signal to be written to the wake-up socket."""


def _bear(host: socket.socket, language: Language, wanted: dict[str, Any], sockets: list[int]) -> None:
    """Fork one interpreter and tell the host its number, and a descriptor to kill it by."""
    pid = os.fork()
    if pid == 0:
        _live(language, wanted, *sockets)
    handle = os.pidfd_open(pid)
    socket.send_fds(host, [json.dumps({"born": pid}).encode()], [handle])
    for descriptor in (*sockets, handle):
        os.close(descriptor)


def _live(language: Language, wanted: dict[str, Any], frames: int, files: int) -> None:
    """Be an interpreter. Never returns: exit handlers and buffers are not this process's to run."""
    status = 1
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for source, target in ((frames, 200), (files, 201), (200, FRAMES), (201, FILES)):
            os.dup2(source, target)
        os.closerange(FILES + 1, 4096)
        die_with_parent()
        # Sockets are wrapped before they are confined: wrapping asks the kernel what they are.
        host, given = socket.socket(fileno=FRAMES), socket.socket(fileno=FILES)
        host.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, _SEND_FOR)
        layers = confine(wanted["heap_bytes"]) if wanted["confined"] else []
        serve(Wire(host), given, layers, language.begin)
        status = 0
    except BaseException as error:  # noqa: BLE001 - told to the host as the last words on standard error
        with suppress(OSError):
            os.write(2, f"{type(error).__name__}: {error}\n".encode("utf-8", "replace"))
    os._exit(status)


def _tell_ended(host: socket.socket) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        host.send(json.dumps({"ended": pid, "status": os.waitstatus_to_exitcode(status)}).encode())
