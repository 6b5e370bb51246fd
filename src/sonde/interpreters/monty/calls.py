"""The calls of one cell: made in the thread that drives its code, answered by the event loop.

Answers keep the order in which they came, and the code gets them only when it can do nothing else. How many it gets at
once depends on how many it waits for, never on when they came: so a replay in the same order takes the same path.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any

from sonde.interpreters.protocol import Answer, HostCalls

MOST_OPEN_CALLS = 20_000
MOST_OPEN_BYTES = 32 * 1024 * 1024
_FLUSH_CALLS = 500
_SETTLING_STEPS = 6

Made = tuple[int, str, dict[str, Any], int]  # the number, the function, its arguments, and their size
Answered = tuple[int, Answer]


class Stopped(Exception):
    """The cell has been ended from outside."""


class Calls:
    """The calls of one cell. `failed` is told an error of the host's, which ends the cell."""

    def __init__(self, host: HostCalls, failed: Callable[[Exception], None], *, replaying: bool) -> None:
        self._host = host
        self._failed = failed
        self.replaying = replaying
        """Whether the cell has run before, in an earlier life of the run."""
        self._loop = asyncio.get_running_loop()
        self._arrived: SimpleQueue[list[Answered] | None] = SimpleQueue()
        # The thread's.
        self._outgoing: list[Made] = []
        self._sizes: dict[int, int] = {}
        self._open_bytes = 0
        self._unused: deque[Answered] = deque()
        self._received = 0
        # The loop's.
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._answers: list[Answered] = []
        self._sent = 0
        self._noticing: asyncio.Task[None] | None = None

    def make(self, number: int, function: str, arguments: dict[str, Any], size: int) -> None:
        """Make a call (from the thread). Waits while very many are open, so that a flood fills no memory of ours."""
        if len(self._sizes) >= MOST_OPEN_CALLS or self._open_bytes > MOST_OPEN_BYTES:
            while len(self._sizes) > MOST_OPEN_CALLS // 2 or self._open_bytes > MOST_OPEN_BYTES // 2:
                self._unused.extend(self._receive())
        self._outgoing.append((number, function, arguments, size))
        self._sizes[number] = size
        self._open_bytes += size
        if len(self._outgoing) >= _FLUSH_CALLS:
            self._flush()

    def next(self, count: int) -> list[Answered]:
        """Wait for so many answers, and return them in order (from the thread). Raises `Stopped`."""
        while len(self._unused) < count:
            self._unused.extend(self._receive())
        return [self._unused.popleft() for _ in range(count)]

    def all_of(self, numbers: set[int]) -> dict[int, Answer]:
        """Wait for the answers to these calls; others are kept (from the thread). Raises `Stopped`."""
        answers: dict[int, Answer] = {}
        if len(numbers) > 1:  # while many were made, some may have come
            answers.update(each for each in self._unused if each[0] in numbers)
            self._unused = deque(each for each in self._unused if each[0] not in numbers)
        while len(answers) < len(numbers):
            for number, answer in self._receive():
                if number in numbers:
                    answers[number] = answer
                else:
                    self._unused.append((number, answer))
        return answers

    def stop(self) -> None:
        """Have the thread wait no more."""
        self._arrived.put(None)

    async def close(self) -> None:
        """Cancel what is open."""
        tasks = [*self._tasks.values(), *([self._noticing] if self._noticing else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)

    def _receive(self) -> list[Answered]:
        """Wait for more answers, in the thread. While replaying, tell that the code waits."""
        self._flush()
        try:
            answers = self._arrived.get_nowait()
        except Empty:
            if self.replaying:
                self._call_soon(self._notice, self._received)
            answers = self._arrived.get()
        if answers is None:
            raise Stopped
        for number, _ in answers:
            self._open_bytes -= self._sizes.pop(number)
        self._received += len(answers)
        return answers

    def _flush(self) -> None:
        if self._outgoing:
            made, self._outgoing = self._outgoing, []
            self._call_soon(self._start, made)

    def _call_soon(self, run: Callable[..., None], *given: Any) -> None:
        try:
            self._loop.call_soon_threadsafe(run, *given)
        except RuntimeError as error:  # the loop is closed
            raise Stopped from error

    def _start(self, made: list[Made]) -> None:
        for number, function, arguments, _ in made:
            self._tasks[number] = self._loop.create_task(self._serve(number, function, arguments))

    async def _serve(self, number: int, function: str, arguments: dict[str, Any]) -> None:
        try:
            answer = await self._host.call(function, arguments)
        except Exception as error:  # noqa: BLE001 - whatever stops the host from answering ends the cell
            self._failed(error)
            return
        finally:
            self._tasks.pop(number, None)
        if not self._answers:
            self._loop.call_soon(self._hand_over)
        self._answers.append((number, answer))

    def _hand_over(self) -> None:
        answers, self._answers = self._answers, []
        self._sent += len(answers)
        self._arrived.put(answers)

    def _notice(self, received: int) -> None:
        self._noticing = self._loop.create_task(self._settle(received))

    async def _settle(self, received: int) -> None:
        """Tell the host that the code waits, once what was called before has got as far as it can on its own."""
        for _ in range(_SETTLING_STEPS):
            await asyncio.sleep(0)
        if self._sent == received and not self._answers:
            self._host.idle()
