"""What cells, models, files of strangers, and moments of death can do to a run with subagents: nothing."""

import os
import pty
import select
import signal
import subprocess
import time

import pytest

from sonde.record.names import safe_name
from sonde.testing.server import ChatRequest, FaultServer, Said, Script, Settings, ToolUse, call_tool, run_code
from tests.cli import Cli
from tests.conftest import OpenServer
from tests.heard import Heard, add_agent, delegate, depth_of, rooted, run_of, task_of

GENERAL = "You do one piece"


def port_of(server: FaultServer) -> int:
    return int(server.url.split(":")[2].removesuffix("/v1"))


def led(cell: str, sub: Script) -> Script:
    """Return a script whose root runs one cell; all others answer with `sub`."""
    return lambda request: run_code(cell) if depth_of(request) == 0 else sub(request)


# Files of strangers


@pytest.mark.parametrize("setting", ["guest_packages = ['evil']", "key_env = 'AWS_SECRET_ACCESS_KEY'"])
def test_a_folders_file_loads_no_code_and_names_no_secret(cli: Cli, serve: OpenServer, setting: str) -> None:
    (cli.folder / "sonde.toml").write_text(setting)
    (cli.folder / "evil.py").write_text("open('owned', 'w').close()")
    server = serve(rooted("FINAL(1)"))
    assert "may not be set in a folder's file" in cli.ask(server.url, "Go.").error
    assert server.log == []
    assert not (cli.folder / "owned").exists()


def test_an_agents_file_names_no_address(cli: Cli, serve: OpenServer) -> None:
    add_agent(cli.folder, "general-purpose", "model: openai:x@https://evil.example/v1")
    server = serve(rooted("FINAL(await task('secrets'))"))
    assert "general-purpose.md, line 4" in cli.ask(server.url, "Go.").error
    assert server.log == []


def test_nothing_is_written_through_a_link_that_came_with_the_folder(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / ".sonde").mkdir()
    (cli.folder / ".sonde/.gitignore").symlink_to(cli.folder / "elsewhere")
    assert cli.ask(serve(rooted("FINAL(1)")).url, "Go.").code == 0
    assert not (cli.folder / "elsewhere").exists()


# Approval


def test_an_answer_is_to_what_was_asked_and_to_nothing_else(cli: Cli, serve: OpenServer) -> None:
    cells = ["await llm('from what was refused')", "FINAL('harmless')"]
    server = serve(rooted(*cells))
    assert "refused" in cli.ask(server.url, "Go.", "--approve", "eval").json["error"]["message"]
    assert "harmless" in cli("resume", "last", "--answer", "no", "--json", "--quiet").json["error"]["message"]
    assert cli("resume", "last", "--answer", "yes", "--json", "--quiet").json["answer"] == "harmless"
    assert [entry for entry in server.log if not entry.system] == []


def test_all_code_is_shown_before_it_runs(cli: Cli, serve: OpenServer) -> None:
    cell = "# harmless\n" * 1000 + "FINAL('the end of it')"
    message = cli.ask(serve(rooted(cell)).url, "Go.", "--approve", "eval").json["error"]["message"]
    assert "the end of it" in message


class Terminal:
    """A run in a terminal, and what it shows there."""

    def __init__(self, cli: Cli, *arguments: str) -> None:
        self._terminal, inside = pty.openpty()
        environment = {"HOME": str(cli.folder), "PATH": os.environ["PATH"], "SONDE_ROUTE": "rlm"}
        self.process = subprocess.Popen(
            [cli.python, "-m", "sonde", *arguments],
            cwd=cli.folder, env=environment, stdin=inside, stdout=inside, stderr=inside, start_new_session=True,
        )  # fmt: skip
        os.close(inside)

    def read_until(self, text: str, within_s: float = 20) -> str:
        """Return what is shown until a text is, or until the end."""
        shown, end = b"", time.monotonic() + within_s
        while text.encode() not in shown and time.monotonic() < end:
            if select.select([self._terminal], [], [], 0.1)[0]:
                try:
                    shown += os.read(self._terminal, 65536)
                except OSError:  # the other side is closed
                    break
        return shown.decode(errors="replace")

    def type(self, text: str) -> None:
        """Type something."""
        os.write(self._terminal, text.encode())

    def close(self) -> None:
        """End it, whatever it does."""
        self.process.kill()
        self.process.wait()
        os.close(self._terminal)


def asking(cli: Cli, url: str) -> Terminal:
    return Terminal(cli, "ask", "Go.", "--model", f"openai:test@{url}", "--approve", "eval")


def test_what_is_approved_is_seen_as_it_is(cli: Cli, serve: OpenServer) -> None:
    terminal = asking(cli, serve(rooted("x = 'a\u200b\x1b[31m'\nFINAL('done')")).url)
    try:
        assert "'a\\x200b\\x1b[31m'" in terminal.read_until("all]: ")
        terminal.type("yes\n")
        assert "done" in terminal.read_until("never")
        assert terminal.process.wait(10) == 0
    finally:
        terminal.close()


def test_ctrl_c_ends_a_run_that_waits_for_a_person(cli: Cli, serve: OpenServer) -> None:
    terminal = asking(cli, serve(rooted("FINAL(1)")).url)
    try:
        terminal.read_until("all]: ")
        began = time.monotonic()
        terminal.process.send_signal(signal.SIGINT)
        terminal.read_until("never")
        assert terminal.process.wait(10) == 130
        assert time.monotonic() - began < 3
    finally:
        terminal.close()


# Subagents


def test_rlm_gives_an_agent_no_more_than_it_has(cli: Cli, serve: OpenServer) -> None:
    add_agent(cli.folder, "reader", "tools: read_file", "interpreter: true", "can-delegate-to: []")

    def sub(request: ChatRequest) -> Said | str:
        if "You are the reader" in request.system:
            return run_code("FINAL(await rlm('write it'))")
        cells = [
            "w = getattr(tools, 'write' + '_file', None)",
            "try:\n    r = await task('x')\nexcept TaskError as e:\n    r = str(e)\nFINAL([w is None, r])",
        ]
        return run_code(cells[request.turn]) if depth_of(request) == 2 else "it was sent"

    answer = cli.ask(serve(led("FINAL(await task('x', 'reader'))", sub)).url, "Go.").json["answer"]
    assert answer == [True, "unknown_agent: Not allowed to delegate to: general-purpose"]


def test_a_chain_cannot_grow_beyond_bounds(cli: Cli, serve: OpenServer) -> None:
    def reply(request: ChatRequest) -> Said | str:
        if request.system.startswith(GENERAL):
            return "z" * 100_000
        item = {"agent": "general-purpose", "task": "start"}
        return delegate(chain=[item, {**item, "task": "{previous}" * 60_000}]) if request.turn == 0 else request.prompt

    server = serve(reply)
    answer = cli("agent", "Go.", "--model", f"openai:test@{server.url}", "--json", "--quiet").json["answer"]
    assert "The chain stopped at 1 of 2" in answer
    assert "6,000,600,000 characters" in answer[-200:]
    assert len(server.log) == 3


def test_a_thousand_tasks_in_one_reply(cli: Cli, serve: OpenServer) -> None:
    use = ToolUse("task", '{"description": "one of many"}')

    def reply(request: ChatRequest) -> Said | str:
        if request.system.startswith(GENERAL):
            return "ok"
        return Said(tools=(use,) * 1000, finish="tool_calls") if request.turn == 0 else "done"

    server = serve(reply)
    outcome = cli("agent", "Go.", "--model", f"openai:test@{server.url}", "--max-calls", "20", "--json", "--quiet").json
    assert outcome["status"] == "limit"
    assert len(server.log) <= 22


# Files of subagents, and what is left of them


def writers(request: ChatRequest) -> Said | str:
    """Have `first` end before `second` writes the same file."""
    task = task_of(request)
    steps: dict[str, list[Said | str]] = {
        "first": [call_tool("write_file", path="x.md", content="FIRST"), "done"],
        "second": [call_tool("ls"), call_tool("glob", pattern="*"), call_tool("ls", path="."),
                   call_tool("write_file", path="x.md", content="SECOND"), call_tool("ls"), "done"],
    }  # fmt: skip
    return steps[task][request.turn]


BOTH = (
    "await gather(task('first'), task('second'))\n"
    "names = await tools.glob(pattern='x*.md')\n"
    "FINAL(sorted([(await tools.read_file(path=n)).split()[-1] for n in names]))"
)


def test_of_two_that_write_the_same_file_blindly_none_is_lost(cli: Cli, serve: OpenServer) -> None:
    outcome = cli.ask(serve(led(BOTH, writers)).url, "Go.", "--concurrency", "2").json
    assert outcome["answer"] == ["FIRST", "SECOND"]


@pytest.mark.parametrize("quota", [5, 6, 7, 8])
def test_none_is_lost_when_the_run_is_cut_short(cli: Cli, quota: int) -> None:
    heard = Heard(led(BOTH, writers))
    with FaultServer(heard, settings=Settings(quota=quota)) as server:
        port = port_of(server)
        assert cli.ask(server.url, "Go.").json["status"] == "limit"
    with FaultServer(heard, port=port):
        assert cli("resume", "last", "--json", "--quiet").json["answer"] == ["FIRST", "SECOND"]


def test_what_is_merged_half_done_is_replaced_by_what_is_done(cli: Cli) -> None:
    def sub(request: ChatRequest) -> Said | str:
        steps: dict[str, list[Said | str]] = {
            "first": [call_tool("write_file", path="x.md", content="FIRST"), "done"],
            "second": [call_tool("ls"), call_tool("glob", pattern="*"), call_tool("ls", path="."),
                       call_tool("write_file", path="x.md", content="HALF"), call_tool("ls"),
                       call_tool("write_file", path="x.md", content="WHOLE"), "done"],
        }  # fmt: skip
        return steps[task_of(request)][request.turn]

    heard = Heard(led(BOTH, sub))
    with FaultServer(heard, settings=Settings(quota=7)) as server:
        port = port_of(server)
        assert cli.ask(server.url, "Go.").json["status"] == "limit"
    with FaultServer(heard, port=port):
        assert cli("resume", "last", "--json", "--quiet").json["answer"] == ["FIRST", "WHOLE"]


@pytest.mark.parametrize("verb", ["ask", "agent"])
def test_what_a_cell_wrote_is_not_written_again(cli: Cli, verb: str) -> None:
    cell = (
        "await tools.write_file(path='n.md', content='one')\n"
        "await tools.edit_file(path='n.md', old='one', new='one two')\n"
        "await llm('x')\nawait llm('y')\n"
        "FINAL((await tools.read_file(path='n.md')).split()[1:])"
    )
    script = rooted(cell)
    with FaultServer(script, settings=Settings(quota=2)) as server:
        port = port_of(server)
        model = f"openai:test@{server.url}"
        assert cli(verb, "Go.", "--model", model, "--json", "--quiet").json["status"] == "limit"
    with FaultServer(script, port=port) as server:
        outcome = cli("resume", "last", "--json", "--quiet").json
        assert outcome["answer"] == ["one", "two"]
        assert [entry.prompt for entry in server.log] == ["y"]
        assert outcome["calls"] == {"total": 4, "ok": 2, "failed": 1, "cached": 1}, "tools are no calls"


# What floods


def test_names_that_are_made_to_collide_cost_no_record(cli: Cli, serve: OpenServer) -> None:
    mark = safe_name("root/a").rpartition("-")[2]
    outcome = cli.ask(serve(rooted(f"save('a-{mark}', 1)\nsave('A', 2)\nsave('a', 3)\nFINAL(1)")).url, "Go.").json
    assert len(list((run_of(outcome) / "intermediate").iterdir())) == 3
    assert (run_of(outcome) / "final-result.md").exists()


def test_names_and_lines_have_a_length(cli: Cli, serve: OpenServer) -> None:
    cell = "phase('p' * 2_000_000)\nlog('l' * 2_000_000)\nsave('s' * 2_000_000, 1)\nFINAL(1)"
    outcome = cli.ask(serve(rooted(cell)).url, "Go.")
    run = run_of(outcome.json)
    assert sum(path.stat().st_size for path in run.rglob("*") if path.is_file()) < 1_000_000


def test_a_search_ends_with_the_run(cli: Cli, serve: OpenServer) -> None:
    for n in range(8):
        (cli.folder / f"{n}.txt").write_bytes((b"a" * 99 + b"\n") * 200_000)
    cell = (
        "log('begun')\nawait gather(*[tools.grep(pattern='([a-z])*[0-9]{50}' + str(n), context=9) for n in range(40)])"
    )
    server = serve(rooted(cell))
    process = cli.start("agent", "Go.", "--model", f"openai:test@{server.url}")
    assert process.stderr is not None
    while b"begun" not in process.stderr.readline():
        pass
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert time.monotonic() - began < 3, "threads searched on"


def test_results_are_read_a_few_times_only(cli: Cli, serve: OpenServer) -> None:
    cells = [
        "await llm('x')",
        "n = 0\ntry:\n    while results():\n        n += 1\nexcept TaskError as e:\n    FINAL([n, str(e)])",
    ]
    answer = cli.ask(serve(rooted(*cells)).url, "Go.").json["answer"]
    assert answer[0] == 16
    assert "16 times" in answer[1]
