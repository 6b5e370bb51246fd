"""Nothing that was paid for is paid for again, whenever the whole process tree is killed."""

import random
import threading
import time

import pytest

from sonde.testing.server import ChatRequest, FaultServer, Latency, Said, Settings, run_code
from tests.cli import Cli
from tests.conftest import OpenServer
from tests.processes import kill_tree
from tests.records import journaled

CALLS = 300
FAN_OUT = f"squares = await gather(*[llm(f'Square {{n}}') for n in range({CALLS})])"
ANSWER = sum(n * n for n in range(CALLS))
MOMENTS = random.Random(7).sample(range(1, CALLS + 4), 30)


def reply(request: ChatRequest) -> Said | str:
    if not request.system:
        return str(int(request.prompt.removeprefix("Square ")) ** 2)
    return [run_code("print(len(context))"), run_code(FAN_OUT), run_code("FINAL(sum(map(int, squares)))")][request.turn]


class KillAt:
    """Replies until a number of requests has come in, then kills the run that sends them."""

    def __init__(self, moment: int) -> None:
        self.pid = 0
        self.killed = threading.Event()
        self.at = 0.0
        self._left = moment

    def __call__(self, request: ChatRequest) -> Said | str:
        self._left -= 1
        if self._left == 0:
            self.at = time.time()
            kill_tree(self.pid)
            self.killed.set()
        return reply(request)


def kill_and_resume(cli: Cli, server: FaultServer, script: KillAt) -> tuple[int, int]:
    """Kill a run at a moment and resume it. Return how many requests were sent again that had been on the wire, and
    how many whose answers had not reached the disk."""
    (cli.folder / "input.txt").write_text("numbers\n" * 100)
    first = cli.start(
        "ask", "Sum the squares.", "input.txt", "--model", f"openai:test@{server.url}",
        "--concurrency", "8", "--run-id", "victim", "--quiet",
    )  # fmt: skip
    script.pid = first.pid
    said = first.communicate()
    assert script.killed.is_set(), said
    before = len(server.log)
    run = cli.folder / ".sonde/runs/victim"
    paid = set(journaled(run))

    outcome = cli("resume", "victim", "--json", "--quiet")

    assert outcome.code == 0, outcome.stderr
    assert outcome.json["answer"] == ANSWER
    assert outcome.json["coverage"] == {"items": CALLS, "done": CALLS, "failed": 0}
    asked_again = {entry.digest for entry in server.log[before:]}
    assert not asked_again & paid, "a journaled answer was asked for again"
    repeated = [entry for entry in server.log[:before] if entry.digest in asked_again]
    on_the_wire = sum(entry.end is None or entry.end > script.at for entry in repeated)
    return on_the_wire, len(repeated) - on_the_wire


@pytest.mark.sampled
@pytest.mark.parametrize("moment", [*MOMENTS[:6], *(pytest.param(m, marks=pytest.mark.proof) for m in MOMENTS[6:])])
def test_a_killed_run_resumes_without_paying_twice(cli: Cli, serve: OpenServer, moment: int) -> None:
    script = KillAt(moment)
    server = serve(script, settings=Settings(latency=Latency(0.01, 0.05, "uniform")))
    on_the_wire, unsaved = kill_and_resume(cli, server, script)
    print(f"killed at request {moment}: sent again: {on_the_wire} that were on the wire, {unsaved} not yet on the disk")


def test_a_completed_run_is_not_run_again(cli: Cli, serve: OpenServer) -> None:
    server = serve(reply)
    first = cli.ask(server.url, "Sum the squares.")
    sent = len(server.log)
    again = cli("resume", "last", "--json")
    assert again.json == first.json
    assert len(server.log) == sent
