"""Let a hostile program loose, and measure what it did to the time, the memory and the processes of its host."""

import asyncio
import gc
import math
import os
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from sonde.errors import InterpreterError
from sonde.interpreters.choose import choose
from sonde.interpreters.protocol import Answer, CellError, CellResult, Interpreter, Settings, TaskFailure
from tests.processes import descendants, has_ended
from tests.sessions import MEMORY, NO_LIMITS, world

FOLDER = Path(__file__).parent
LANGUAGES = {"python": "py", "javascript": "js", "monty": "py"}
LIMIT_S = 1.0
WAITS = "waits"
SECRET = "ESCAPE_SECRET"
_SAMPLE_S = 0.02
_ENDED = "processes that have ended"
_PATIENCE_S = 30


class Program(NamedTuple):
    """A hostile program. `ends` are the ways in which it may end; none given, any will do."""

    path: Path
    code: str
    ends: list[str]

    @property
    def breaks_itself(self) -> bool:
        """Whether it lives on, but is of no more use to itself."""
        return "\n# breaks itself\n" in self.code

    @property
    def reaches(self) -> bool:
        """Whether it reaches for something that is there, and harmless to get, where nothing confines it."""
        return self.path.stem.startswith("reach_")


def programs(language: str) -> list[Program]:
    """Return the programs of a language. The first line may name the ends: `# ends: error MemoryError | killed`."""
    found: list[Program] = []
    for path in sorted((FOLDER / language).glob(f"*.{LANGUAGES[language]}")):
        code = path.read_text(encoding="utf-8")
        _, mark, ends = code.partition("\n")[0].partition(" ends: ")
        found.append(Program(path, code, [end.strip() for end in ends.split("|")] if mark else []))
    return found


class Outcome(NamedTuple):
    """How a program ended, what it cost beyond what was there before, and what it left."""

    result: CellResult
    seconds: float
    """By the clock, without the time in which this machine let others run."""
    tree_bytes: int
    host_bytes: int
    next_value: str | None
    left: str
    """The processes, threads and descriptors that are there and were not before, or gone that were."""

    @property
    def end(self) -> str:
        """The status, and an error's type."""
        error = self.result.error
        if error is None or (self.result.status != "error" and error.type != WAITS):
            return self.result.status
        return WAITS if error.type == WAITS else f"error {error.type}"

    @property
    def shown(self) -> str:
        """All that the program could put its success into."""
        error = self.result.error
        return f"{self.result.value} {self.result.stdout} {'' if error is None else error.message}"


class Answers:
    """Answers calls as a run does: what cannot be answered is a failure that the code is told."""

    async def call(self, function: str, arguments: dict[str, Any]) -> Answer:
        await asyncio.sleep(0)
        match function, arguments:
            case "llm", {"prompt": "hang"}:
                await asyncio.Event().wait()
            case "llm", {"prompt": str(prompt)} if prompt != "fail":
                return Answer(prompt[:1000], 1000.0)
            case "sleep", {"until": float(until) | int(until)}:
                return Answer(None, until if math.isfinite(until) else 1000.0)
            case "budget", {}:
                return Answer({"spent": NO_LIMITS, "remaining": NO_LIMITS}, 1000.0)
            case "final", {"value": _}:
                return Answer(None, 1000.0)
            case _:
                pass
        return Answer(None, 1000.0, TaskFailure("tool_error", f"{function} cannot be called so"))

    def idle(self) -> None:
        """Nothing to do."""


class Arena:
    """One backend, and a loop for it, for any number of programs."""

    def __init__(self, language: str, *, confined: bool = True) -> None:
        self.expected = '"alive"' if language == "javascript" else "'alive'"
        self._runner = asyncio.Runner()
        self._backend = self._runner.run(self._choose(language, confined))
        self._runner.run(self._warm_up())

    def face(self, program: Program) -> Outcome:
        """Run a program in an interpreter of its own, and another cell after it."""
        return self._runner.run(self._face(program))

    def close(self) -> None:
        """End everything."""
        self._runner.run(self._backend.close())
        self._runner.close()

    async def _run(self, interpreter: Interpreter, program: Program) -> CellResult:
        """Return what a program comes to. One that waits for an answer is given up, as a run does that is cancelled."""
        running = interpreter.run(program.code, Answers(), cpu_s=LIMIT_S)
        try:
            return await asyncio.wait_for(running, LIMIT_S if WAITS in program.ends else _PATIENCE_S)
        except TimeoutError:
            return CellResult("killed", error=CellError(WAITS, "it waits for an answer, and was given up"))

    async def _choose(self, language: str, confined: bool) -> Any:
        return choose(language, Settings(MEMORY, confined=confined))

    async def _warm_up(self) -> None:
        """Let everything be loaded, so that it does not count as left behind."""
        interpreter = await self._backend.open(world())
        await interpreter.run("1", Answers(), cpu_s=LIMIT_S)
        await interpreter.close()

    async def _face(self, program: Program) -> Outcome:
        before = await _at_rest()
        interpreter = await self._backend.open(world())
        await interpreter.run("1", Answers(), cpu_s=LIMIT_S)
        meter = Meter()
        with meter.running():
            result = await self._run(interpreter, program)
        if result.status == "killed":
            await interpreter.close()
        following = None
        with suppress(InterpreterError):  # it has ended, as it may when it was killed or interrupted
            following = await interpreter.run("'alive'", Answers(), cpu_s=LIMIT_S)
        await interpreter.close()
        if following is None or following.status == "killed" or program.breaks_itself:
            interpreter = await self._backend.open(world())
            following = await interpreter.run("'alive'", Answers(), cpu_s=LIMIT_S)
            await interpreter.close()
        left = await _left(before)
        return Outcome(result, meter.seconds, meter.tree_bytes, meter.host_bytes, following.value, left)


class Meter:
    """Measures time and memory from outside while a program runs."""

    def __init__(self) -> None:
        self.seconds = self.tree_bytes = self.host_bytes = 0

    @contextmanager
    def running(self) -> Generator[None]:
        """Measure what happens within."""
        gc.collect()
        Path("/proc/self/clear_refs").write_text("5")
        processes = descendants(os.getpid())
        started = {pid: _peak(pid) for pid in processes}
        delayed = {pid: _waited(pid) for pid in (os.getpid(), *processes)}
        resident, began = _resident(), time.perf_counter()
        peaks, waits = dict(started), dict(delayed)
        sampler = asyncio.get_running_loop().create_task(_sample(peaks, waits))
        try:
            yield
        finally:
            sampler.cancel()
            wall = time.perf_counter() - began
            waits[os.getpid()] = _waited(os.getpid())
            self.seconds = wall - sum(waits[pid] - delayed[pid] for pid in delayed)
            self.tree_bytes = sum(peaks[pid] - started[pid] for pid in started)
            self.host_bytes = _peak(os.getpid()) - resident


async def _sample(peaks: dict[int, int], waits: dict[int, float]) -> None:
    while True:
        for pid in peaks:
            peaks[pid] = max(peaks[pid], _peak(pid))
        for pid in waits:
            waits[pid] = max(waits[pid], _waited(pid))
        await asyncio.sleep(_SAMPLE_S)


def _peak(pid: int) -> int:
    """Return the most memory that a process has had, 0 if it is gone."""
    return _status(pid, "VmHWM:")


def _resident() -> int:
    return _status(os.getpid(), "VmRSS:")


def _status(pid: int, field: str) -> int:
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    return 0


def _waited(pid: int) -> float:
    """Return for how many seconds the threads of a process could have run, but others did."""
    waited = 0
    with suppress(OSError):
        for thread in Path(f"/proc/{pid}/task").iterdir():
            with suppress(OSError, IndexError):
                waited += int((thread / "schedstat").read_text(encoding="ascii").split()[1])
    return waited / 1e9


def _belongings() -> dict[str, int]:
    processes = descendants(os.getpid())
    ended = sum(map(has_ended, processes))
    return {
        "processes": len(processes) - ended,
        _ENDED: ended,
        "threads": threading.active_count(),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
    }


async def _at_rest() -> dict[str, int]:
    """Return what is there once that changes no more: what ended before may not be gone yet."""
    seen = [_belongings()]
    while len(seen) < 3 or seen[-1] != seen[-3]:
        await asyncio.sleep(0.01)
        seen.append(_belongings())
    return seen[-1]


async def _left(before: dict[str, int]) -> str:
    """Return what is not as it was before, nor becomes so within a second."""
    for _ in range(100):
        if not _differences(before, _belongings()):
            break
        await asyncio.sleep(0.01)
    return _differences(before, _belongings())


def _differences(before: dict[str, int], after: dict[str, int]) -> str:
    """Of processes that have ended, one may be waiting to be asked how: Monty's pool asks when it starts another."""
    changed = [name for name in before if after[name] != before[name]]
    if after[_ENDED] <= max(before[_ENDED], 1):
        changed = [name for name in changed if name != _ENDED]
    return ", ".join(f"{name}: {before[name]} before, {after[name]} after" for name in changed)
