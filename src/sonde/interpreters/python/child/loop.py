"""An event loop without a selector: when there is nothing left to run, it waits for the host's next answer."""

import asyncio
from collections.abc import Callable
from typing import Any

from sonde.interpreters.confined.child.faults import TaskError, Timeout
from sonde.interpreters.confined.child.wire import Answered, Wire, failure

_LAST_S = 1.0


class CellLoop(asyncio.BaseEventLoop):
    """Runs coroutines whose only outside events are the host's answers, in the host's time."""

    def __init__(self, wire: Wire) -> None:
        super().__init__()
        self._wire = wire
        self._selector = self  # asyncio calls select() on whatever it finds here
        # A timer is due a little early. By less than a float can tell of today's date, it would never be due at all.
        self._clock_resolution = 1e-6
        self._futures: dict[int, asyncio.Future[Any]] = {}

    def time(self) -> float:
        """Return the run's time."""
        return self._wire.now

    def select(self, timeout: float | None) -> list[Answered]:
        """Wait as asyncio asks; see `Wire.wait`."""
        answer = self._wire.wait(timeout)
        return [] if answer is None else [answer]

    async def call(self, function: str, arguments: dict[str, Any]) -> Any:
        """Call the host and wait for its answer. Raises `TaskError`."""
        call = self._wire.call(function, arguments)
        future = self._futures[call] = self.create_future()
        try:
            return await future
        except asyncio.CancelledError:
            self._wire.cancel(call)
            raise
        finally:
            self._futures.pop(call, None)

    def call_now(self, function: str, arguments: dict[str, Any]) -> Any:
        """Call the host and block until it answers. Raises `TaskError`."""
        return self.call_all_now(function, [arguments])[0]

    def call_all_now(self, function: str, arguments: list[dict[str, Any]]) -> list[Any]:
        """Make many calls at once and block until all are answered. Raises the first failure in order."""
        outcomes: dict[int, Any] = {self._wire.call(function, each): None for each in arguments}
        missing = len(outcomes)
        try:
            while missing:
                call, succeeded, value, _ = answer = self._wire.next_answer()
                if call in outcomes:
                    outcomes[call] = value if succeeded else failure(value)
                    missing -= 1
                else:
                    self._resolve(answer)
        except BaseException:  # a signal's handler may raise anything
            for call in outcomes:
                self._wire.cancel(call)
            raise
        for outcome in outcomes.values():
            if isinstance(outcome, TaskError):
                raise outcome
        return list(outcomes.values())

    def run_in_executor(self, executor: Any, func: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        """Run the function at once: there are no threads here, and nothing to gain from one."""
        future: asyncio.Future[Any] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 - it belongs to whoever awaits the future
            future.set_exception(error)
        return future

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Tell of an error that nobody awaits. A time-out that hit the loop's own work ends the cell nonetheless."""
        error = context.get("exception")
        if isinstance(error, Timeout):
            raise error
        super().call_exception_handler(context)

    def settle(self, *, wait: Callable[[], bool]) -> None:
        """Let what was left running go on while `wait()` holds, then cancel the rest; what will not be
        cancelled is left alone."""
        while wait() and (pending := asyncio.all_tasks(self)):
            self.run_until_complete(asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED))
        pending = asyncio.all_tasks(self)
        for task in pending:
            task.cancel()
        if pending:
            done, _ = self.run_until_complete(asyncio.wait(pending, timeout=_LAST_S))
            for task in done:
                _ = task.cancelled() or task.exception()  # nobody is left who would ask

    def _process_events(self, event_list: list[Answered]) -> None:
        for answer in event_list:
            self._resolve(answer)

    def _resolve(self, answer: Answered) -> None:
        future = self._futures.get(answer[0])
        if future is not None and not future.done():
            if answer[1]:
                future.set_result(answer[2])
            else:
                future.set_exception(failure(answer[2]))

    def _write_to_self(self) -> None:
        """Nothing to wake: no other thread exists."""
