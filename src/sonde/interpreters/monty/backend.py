"""Interpreters that are Monty sessions, each with a worker process of its own from one pool."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

import pydantic_monty as monty
from msgspec.structs import replace

from sonde.errors import InterpreterError, UsageError
from sonde.interpreters.monty.calls import Calls
from sonde.interpreters.monty.session import Limits, Session, Stopwatch
from sonde.interpreters.protocol import CellError, CellResult, GuestWorld, HostCalls, Settings

_MOST_WORKERS = 4096
_OF_HEAP = 2 / 3
"""What the worker has of the memory that an interpreter may take. The message of an error can be half of that, and is
held three times in our memory while it is read: so it costs us no more than the whole."""
_LAYERS = ["language without system calls", "worker process", "empty environment", "memory limit", "time limit"]


class MontyBackend:
    """Opens Monty interpreters. Raises `UsageError` for what Monty cannot do."""

    def __init__(self, settings: Settings) -> None:
        if settings.packages:
            raise UsageError("Monty cannot import packages", "Leave out --guest-packages, or choose python.")
        self._settings = settings
        self._pool: asyncio.Task[monty.Monty] | None = None
        self._opened: list[MontyInterpreter] = []

    def start(self) -> None:
        """Start the pool and its first worker."""
        if self._pool is None:
            self._pool = asyncio.get_running_loop().create_task(self._start())

    async def open(self, world: GuestWorld) -> "MontyInterpreter":
        """Open an interpreter; it gets its worker with its first cell. Raises `InterpreterError`."""
        self.start()
        assert self._pool is not None
        pool = await asyncio.shield(self._pool)
        interpreter = MontyInterpreter(pool, self._settings.heap_bytes, world)
        self._opened = [each for each in self._opened if each.is_open]
        self._opened.append(interpreter)
        return interpreter

    async def close(self) -> None:
        """End all interpreters and their workers."""
        await asyncio.gather(*[each.close() for each in self._opened])
        if self._pool is not None:
            with suppress(InterpreterError):
                pool = await self._pool
                await asyncio.to_thread(pool.__exit__, None, None, None)
            self._pool = None

    async def _start(self) -> monty.Monty:
        def start() -> monty.Monty:
            pool = monty.Monty(
                max_processes=_MOST_WORKERS,
                max_checkouts_per_worker=1,
                feed_duration_limit_grace=None,
                turn_duration_limit_grace=None,
            )
            return pool.__enter__()

        try:
            return await asyncio.to_thread(start)
        except (OSError, RuntimeError, monty.MontyError) as error:
            raise InterpreterError(f"the interpreter did not start: {error}", "Try `sonde doctor`.") from error


class MontyInterpreter:
    """An interpreter in a worker process. See `Interpreter` for the lifecycle.

    A time limit stops Monty in the middle of an operation, so a cell that computes too long costs the session.
    """

    def __init__(self, pool: monty.Monty, heap_bytes: int, world: GuestWorld) -> None:
        self.is_open = True
        self._pool = pool
        self._thread = ThreadPoolExecutor(1, "monty")
        self._heap_bytes = heap_bytes
        self._world = world
        self._loop = asyncio.get_running_loop()
        self._session: Session | None = None
        self._running: _Running | None = None
        self._cells = 0

    @property
    def layers(self) -> list[str]:
        """What confines it, once the first cell has run."""
        return _LAYERS if self._cells else []

    async def run(
        self, code: str, calls: HostCalls, *, cpu_s: float, replaying: bool = False, number: int | None = None
    ) -> CellResult:
        """Run one cell; see `Interpreter.run`."""
        if self._running is not None:
            raise InterpreterError("a cell is already running in this interpreter", "Wait for it to end.")
        if not self.is_open:
            raise InterpreterError("the interpreter has ended", "Open another.")
        self._cells = self._cells + 1 if number is None else number
        running = self._running = _Running(Calls(calls, self._break_off, replaying=replaying), Stopwatch(), cpu_s)
        running.work = self._loop.run_in_executor(self._thread, self._drive, code, running)
        self._look(running)
        try:
            result = await asyncio.shield(running.work)
        except asyncio.CancelledError:
            self._break_off(InterpreterError("the cell was cancelled"))
            await asyncio.wait({running.work})
            raise
        finally:
            running.alarm.cancel()
            self._running = None
            await running.calls.close()
        if running.cause is not None or result.status == "killed":
            await self.close()
        if isinstance(running.cause, Exception):
            raise running.cause
        return result if running.cause is None else replace(result, status="timeout", error=running.cause)

    async def close(self) -> None:
        """End what it does, and give its worker back."""
        self.is_open = False
        if self._running is not None:
            self._break_off(InterpreterError("the interpreter was closed"))
            await asyncio.wait({self._running.work})
        session, self._session = self._session, None
        if session is not None:
            await self._loop.run_in_executor(self._thread, session.close)
        self._thread.shutdown(wait=False)

    def _drive(self, code: str, running: "_Running") -> CellResult:
        """Run one cell, in a thread; the first one starts the session."""
        if self._session is None:
            limits = Limits(int(self._heap_bytes * _OF_HEAP), 2 * running.cpu_s + 1)
            self._session = Session(self._pool, limits, self._world)
        if running.cause is not None:
            raise InterpreterError("the cell was ended before it began")
        return self._session.run(self._cells, code, running.calls, running.watch)

    def _look(self, running: "_Running") -> None:
        """End the cell if it has used its time; else look again when it can have."""
        left = running.cpu_s - running.watch.read()
        if left > 0:
            running.alarm = self._loop.call_later(left, self._look, running)
        else:
            self._break_off(CellError("Timeout", f"the cell computed for more than {running.cpu_s:g} s"))

    def _break_off(self, cause: Exception | CellError) -> None:
        """End the running cell: whatever its thread does, it stops soon after."""
        running, session = self._running, self._session
        if running is None or running.cause is not None:
            return
        running.cause = cause
        running.calls.stop()
        if session is not None:
            session.documents.given_up = True
            session.kill()


class _Running:
    """The cell that runs, and why it was ended from outside, if it was."""

    def __init__(self, calls: Calls, watch: Stopwatch, cpu_s: float) -> None:
        self.calls = calls
        self.watch = watch
        self.cpu_s = cpu_s
        self.cause: Exception | CellError | None = None
        self.work: asyncio.Future[CellResult]
        self.alarm: asyncio.TimerHandle
