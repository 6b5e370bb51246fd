"""One run through many lives: faults of every kind, kills, cancels, limits; and what must hold through all of it."""

import asyncio
import json
import os
import random
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any, NamedTuple

from sonde.testing.server import FAULTS, ChatRequest, Entry, Faults, FaultServer, Latency, Said, Settings, run_code
from tests.cli import Cli
from tests.processes import descendants, kill_tree, settled
from tests.records import journaled

_MOST_LIVES = 12
_ENDS = ("kill", "kill", "signal", "command", "limit", "none")
_CELL = """
left, found = list(range({number})), {{}}
while left:
    batch, left = left[:{batch}], left[{batch}:]
    answers = await gather(*[llm(f'Square {{n}}') for n in batch], return_exceptions=True)
    found.update((n, int(answer)) for n, answer in zip(batch, answers) if isinstance(answer, str))
    left += [n for n, answer in zip(batch, answers) if not isinstance(answer, str) and answer.kind != 'budget']
FINAL(sum(found.values()))
"""


class Toll(NamedTuple):
    """What a story came to."""

    lives: int
    requests: int
    results: int


class _Script:
    """Squares numbers; once a number of requests has come in, it lets go of who waits to end the life."""

    def __init__(self, cell: str) -> None:
        self.due = threading.Event()
        self._cell = cell
        self._left = 0

    def set_due_after(self, requests: int) -> None:
        self._left = requests
        self.due.clear()

    def __call__(self, request: ChatRequest) -> Said | str:
        self._left -= 1
        if self._left <= 0:
            self.due.set()
        if not request.system:
            return str(int(request.prompt.removeprefix("Square ")) ** 2)
        return run_code(self._cell)


def tell(seed: int) -> Toll:
    """Live through one run. Raises `AssertionError` if something was lost, paid twice, passed or left behind."""
    chance = random.Random(seed)
    number = chance.randrange(20, 300)
    batch = chance.choice([10, 50, 300])
    script = _Script(_CELL.format(number=number, batch=batch))
    faults = Faults(chance.choice([0.0, 0.1, 0.3]), FAULTS, seed=seed, spare_agents=chance.random() < 0.5)
    settings = Settings(latency=Latency(0.001, 0.02, "uniform"), retry_after=0.01, capacity=chance.choice([None, 8]))
    with tempfile.TemporaryDirectory() as folder, FaultServer(script, settings=settings, faults=faults) as server:
        cli = Cli(Path(folder))
        cli.environment |= {"SONDE_RETRY_BASE": "0.01", "SONDE_CALL_TIMEOUT": "0.5", "SONDE_REPLY_TOKENS": "250"}
        story = _Story(cli, server, script, chance)
        story.live_through()
        assert story.told["answer"] == sum(n * n for n in range(number)), story.told
        return Toll(story.lives, len(server.log), len(story.paid))


class _Story:
    """A run and its witnesses."""

    def __init__(self, cli: Cli, server: FaultServer, script: _Script, chance: random.Random) -> None:
        self.lives = 0
        self.paid: set[str] = set()
        self.told: dict[str, Any] = {}
        self._cli = cli
        self._server = server
        self._script = script
        self._chance = chance
        self._run = cli.folder / ".sonde/runs/soak"

    def live_through(self) -> None:
        """Let the run live until it is complete; the last life is left alone."""
        while self.told.get("status") != "completed":
            assert self.lives < 2 * _MOST_LIVES, self.told
            how = self._chance.choice(_ENDS) if self.lives < _MOST_LIVES else "none"
            most = self._charged() + self._chance.randrange(3000, 12_000) if how == "limit" else 10_000_000
            self._live(how, most)
            self._check(most)

    def _live(self, how: str, most: int) -> None:
        before = len(self._server.log)
        self.lives += 1
        self._script.set_due_after(self._chance.randrange(1, 200) if how in {"kill", "signal", "command"} else 1 << 60)
        process = self._cli.start(*self._command(most))
        below: list[int] = []
        try:
            while process.poll() is None and not self._script.due.wait(0.02):
                pass
            below = descendants(process.pid)
            self._end(how, process)
            stdout, stderr = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            kill_tree(process.pid)
            raise AssertionError(f"life {self.lives} does not end: {process.communicate()}") from None
        assert b"Traceback" not in stderr, stderr.decode()
        self.told = json.loads(stdout) if stdout else {}
        asyncio.run(settled(lambda: not any(map(_lives, below))))
        # Turns may end in the same message and yet differ in what came before, so they are no witnesses.
        again = {entry.digest for entry in self._server.log[before:] if not entry.system} & self.paid
        assert not again, f"{len(again)} journaled answers were asked for again"

    def _command(self, most: int) -> list[str]:
        shared = ["--max-tokens", str(most), "--json", "--quiet"]
        if self._run.exists():
            return ["resume", "soak", *shared]
        model = ["--route", "rlm", "--model", f"openai:test@{self._server.url}"]
        return ["ask", "Sum the squares.", *model, "--run-id", "soak", *shared]

    def _end(self, how: str, process: subprocess.Popen[bytes]) -> None:
        if process.poll() is not None:
            return
        if how == "kill":
            kill_tree(process.pid)
        elif how == "signal":
            os.kill(process.pid, signal.SIGINT)
        elif how == "command":
            self._cli("cancel", "soak", "--json")

    def _check(self, most: int) -> None:
        """Nothing that was journaled is lost, the record is whole, and no limit was passed."""
        if not (self._run / "journal.db").exists():
            return
        kept = set(journaled(self._run))
        assert self.paid <= kept, f"{len(self.paid - kept)} results are lost"
        self.paid = kept
        assert self._charged() <= most, f"{self._charged()} tokens were charged, {most} were allowed"
        doctor = self._cli("doctor", "soak")
        assert doctor.code == 0, doctor.text

    def _charged(self) -> int:
        return sum(map(_tokens, self._server.log))


def _tokens(entry: Entry) -> int:
    return entry.input_tokens + entry.output_tokens


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
