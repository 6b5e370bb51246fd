"""Stopping a run: from the terminal, from another one, and in the middle of everything."""

import asyncio
import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

import sonde
from sonde.commands import Cancel
from sonde.journal.inbox import put
from sonde.testing.scripted import FunctionModel, code
from sonde.testing.server import FaultServer, Latency, Settings, run_code
from tests.cli import Cli
from tests.conftest import OpenServer

CELL = "FINAL(len(await gather(*[llm(f'Item {n}?') for n in range(2000)])))"


def busy(cli: Cli, serve: OpenServer, run_id: str) -> tuple[subprocess.Popen[bytes], FaultServer]:
    """Start a run that sends requests all the time, and return once it does."""
    server = serve(
        lambda request: run_code(CELL) if request.system else "yes", settings=Settings(latency=Latency(0.02, 0.2))
    )
    model = f"openai:test@{server.url}"
    process = cli.start("ask", "How many?", "--model", model, "--concurrency", "8", "--run-id", run_id, "--json")
    deadline = time.monotonic() + 20
    while len(server.log) < 50:
        assert time.monotonic() < deadline, process.communicate()
        time.sleep(0.01)
    return process, server


def resumes(cli: Cli, run_id: str, server: FaultServer, before: int) -> None:
    """A run goes on, and pays for nothing twice."""
    paid = {entry.digest for entry in server.log[:before] if entry.status == 200 and not entry.system}
    outcome = cli("resume", run_id, "--concurrency", "500", "--json", "--quiet")
    assert (outcome.code, outcome.json["answer"]) == (0, 2000), outcome.stderr
    again = [entry for entry in server.log[before:] if entry.digest in paid]
    assert len(again) <= 8, "only what was answered while the run was being stopped"


@pytest.mark.parametrize("how", ["signal", "command"])
def test_no_request_starts_once_a_run_is_stopped(cli: Cli, serve: OpenServer, how: str) -> None:
    process, server = busy(cli, serve, "stopped")
    asked = time.time()
    if how == "signal":
        process.send_signal(signal.SIGINT)
    else:
        assert cli("cancel", "stopped", "--json").json["status"] == "cancelled"
    stdout, stderr = process.communicate(timeout=10)
    told = json.loads(stdout)
    assert process.returncode == 130
    assert told["status"] == "cancelled"
    assert told["coverage"]["items"] == told["coverage"]["done"] + told["coverage"]["failed"]
    assert max(entry.start for entry in server.log) < asked + 0.5
    assert b"sonde resume stopped" in stderr
    assert b"Traceback" not in stderr
    resumes(cli, "stopped", server, len(server.log))


def test_a_second_signal_ends_a_run_at_once_and_its_record_is_whole(cli: Cli, serve: OpenServer) -> None:
    process, server = busy(cli, serve, "hasty")
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=10)
    assert process.returncode in {130, -signal.SIGINT}
    assert cli("doctor", "hasty").code == 0
    resumes(cli, "hasty", server, len(server.log))


def test_there_must_be_something_to_stop(cli: Cli, serve: OpenServer) -> None:
    assert "there are no runs" in cli("cancel", "last").error
    server = serve(lambda _: run_code("FINAL(1)"))
    cli.ask(server.url, "What?", "--run-id", "over")
    outcome = cli("cancel", "over")
    assert outcome.code == 2
    assert "no process drives run over" in outcome.error


def test_a_command_of_an_earlier_life_is_not_obeyed_again(cli: Cli, serve: OpenServer) -> None:
    process, server = busy(cli, serve, "twice")
    assert cli("cancel", "twice").code == 0
    process.communicate(timeout=10)
    put(cli.folder / ".sonde/runs/twice", Cancel())
    resumes(cli, "twice", server, len(server.log))


def test_cancelling_the_task_stops_a_run_in_python(tmp_path: Path) -> None:
    asked = asyncio.Event()

    def answer(request: object) -> str:
        asked.set()
        return "yes"

    async def main() -> None:
        model = FunctionModel(
            lambda request: code(CELL) if request.messages[0].role == "system" else answer(request),
            delay=lambda _: 0.01,
        )
        task = asyncio.create_task(
            sonde.aask("How many?", model=model, route="rlm", runs_dir=tmp_path, run_id="task", concurrency=2)
        )
        await asyncio.wait_for(asked.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())
    assert (tmp_path / "task/journal.db").exists()
