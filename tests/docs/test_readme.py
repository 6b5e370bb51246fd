"""Every fence of the README and of the docs runs, and does what the text says."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

from sonde.testing.server import ChatRequest, run_code
from tests.cli import Cli
from tests.conftest import OpenServer

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", *(str(path.relative_to(ROOT)) for path in sorted((ROOT / "docs").glob("*.md"))))
FENCES = [
    fence
    for page in PAGES
    for fence in re.findall(r"```(\w*)\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
]


def shell(holding: str) -> str:
    [text] = [text for kind, text in FENCES if kind == "sh" and holding in text]
    return text


def on_path(folder: Path) -> dict[str, str]:
    """Return an environment in which the commands of this .venv come first, as after activating it."""
    return {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}


def test_every_fence_is_known_to_a_test() -> None:
    assert [kind for kind, _ in FENCES] == ["", "sh", "sh", "python", "sh", "sh", "sh"]


def test_the_two_commands_are_in_the_makefile() -> None:
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    commands = re.findall(r"^make (\w+)", shell("make demo"), re.MULTILINE)
    assert commands == ["demo", "test"]
    assert set(commands) <= set(targets)


def test_the_first_use_without_a_key(tmp_path: Path) -> None:
    """With the environment that runs the tests, on a port of its own."""
    script = shell("sonde.testing.server").replace("8089", str(20_000 + os.getpid() % 20_000))
    process = subprocess.Popen(
        ["bash", "-c", "set -m\n" + script], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, env=on_path(tmp_path),
    )  # fmt: skip
    try:
        stdout, stderr = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert "42 of 300 lines tell of a failure" in stdout, stderr
    assert "300 calls: 300 ok" in stdout


def run(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, env=on_path(folder) | environment, capture_output=True, text=True, timeout=30, check=False
    )


def test_the_first_use_with_a_key(cli: Cli, serve: OpenServer) -> None:
    """The commands as they are printed, sent to a server of ours."""
    (cli.folder / "reviews.csv").write_text("text\n" + "good\n" * 20_000)
    server = serve(lambda _: run_code("FINAL(str(len(context)))"))
    outcome = run(cli.folder, "bash", "-ec", shell("OPENAI_API_KEY="), OPENAI_BASE_URL=server.url)
    assert outcome.stdout == "100005\n", outcome.stderr
    assert server.log[0].model == "gpt-5.5"


def test_the_python_example(cli: Cli, serve: OpenServer) -> None:
    (cli.folder / "headlines.txt").write_text("sport\n" * 20_000)
    [example] = [text for kind, text in FENCES if kind == "python"]
    server = serve(lambda _: run_code("FINAL(context.count('sport'))"))
    outcome = run(cli.folder, sys.executable, "-c", example, OPENAI_BASE_URL=server.url, OPENAI_API_KEY="x")
    assert outcome.stdout.startswith("20000 Coverage(items=0"), outcome.stderr


def test_agents_workflows_and_pieces(cli: Cli, serve: OpenServer) -> None:
    """The commands as they are printed."""
    (cli.folder / "tickets.txt").write_text("It crashes\nHow do I start it?\n")

    def reply(request: ChatRequest) -> str:
        if "labels" in json.dumps(request.response_format):
            return json.dumps({"labels": [{"number": 1, "label": "bug"}, {"number": 2, "label": "question"}]})
        found = {"answer": "help", "confidence": "high", "relevant_lines": [1], "found": True}
        return json.dumps(found) if request.response_format else "The top risk is none."

    server = serve(reply)
    environment = {"OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "x"}
    outcome = run(cli.folder, "bash", "-ec", shell("sonde agent"), **environment)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.startswith("The top risk is none.")
    assert '"bug": 1' in outcome.stdout
    assert "help" in outcome.stdout


def test_links_lead_somewhere() -> None:
    for page in (*PAGES, "CONTRIBUTING.md", "ARCHITECTURE.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8")):
            assert ((ROOT / page).parent / target).exists(), (page, target)
