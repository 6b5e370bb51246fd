"""Cassettes play what was recorded, in its order, and say what they lack."""

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sonde.engine.run import Surroundings, start
from sonde.errors import ModelChoiceError, ModelError
from sonde.events import Usage
from sonde.models.cassette import FORMAT, Recording, Replay, Tape
from sonde.models.chat_completions import ChatCompletions
from sonde.models.choose import choose, read_choice
from sonde.models.protocol import Message, Model, Reply, Request, Tool, ToolCall
from sonde.spec import Limits, ModelChoice, RunSpec
from sonde.testing.scripted import ScriptedModel, Step
from sonde.testing.server import ChatRequest, Faults, Said, Settings, run_code
from tests.cli import Cli
from tests.conftest import OpenServer

FULL = Reply("h\udc80i", (ToolCall("c", "eval", "{}"),), Usage(7, 3, 2, 1, 1), "tools", "some-model")
BUSY = ModelError("rate", "slow down", "wait", retry_after=2.5)


def request(text: str, **more: Any) -> Request:
    return Request((Message("user", text),), **more)


async def outcome_of(model: Model, asked: Request) -> Reply | ModelError:
    try:
        return await model.complete(asked, 1)
    except ModelError as error:
        return error


def outcomes_of(model: Model, *asked: Request) -> list[Reply | ModelError]:
    async def main() -> list[Reply | ModelError]:
        return [await outcome_of(model, each) for each in asked]

    return asyncio.run(main())


def record(path: Path, steps: list[Step], *asked: Request) -> None:
    tape = Tape(path)
    outcomes_of(Recording(ScriptedModel(*steps), tape), *asked)
    tape.close()


def test_what_was_recorded_is_played_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    record(path, ["one", "other", BUSY], request("a"), request("b"), request("a"))
    tape = Tape(path)
    tape.add("openai:some", request("a"), FULL)
    tape.close()

    model = choose(f"replay:{path}")
    first, error, full, other = outcomes_of(model, request("a"), request("a"), request("a"), request("b"))
    assert isinstance(first, Reply)
    assert isinstance(other, Reply)
    assert isinstance(error, ModelError)
    assert (first.text, other.text, full) == ("one", "other", FULL)
    assert (error.fault, error.what, error.remedy, error.retry_after) == ("rate", "slow down", "wait", 2.5)
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_makes_a_request_another(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    tool = Tool("eval", "", {})
    record(path, ["yes"], request("a", tools=(tool,), schema={"type": "object"}, max_tokens=5))
    model = Replay("replay:x", path)
    others = [
        request("a", tools=(tool,), schema={"type": "object"}, max_tokens=6),
        request("a", tools=(tool,), schema={"type": "array"}, max_tokens=5),
        request("a", schema={"type": "object"}, max_tokens=5),
        request("b", tools=(tool,), schema={"type": "object"}, max_tokens=5),
    ]
    outcomes = outcomes_of(model, *others, request("a", tools=(tool,), schema={"type": "object"}, max_tokens=5))
    assert [isinstance(outcome, Reply) for outcome in outcomes] == [False] * 4 + [True]


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    record(path, ["one"], request("the only question"))
    model = Replay("replay:x", path)
    _, used_up, never = outcomes_of(model, request("the only question"), request("the only question"), request("what?"))
    assert isinstance(used_up, ModelError)
    assert isinstance(never, ModelError)
    assert not used_up.retryable
    assert "no further reply to this request: 'the only question'" in used_up.what
    assert "no reply to this request: 'what?'" in never.what
    assert str(path) in never.what


def test_a_tape_goes_on_where_it_ended(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    record(path, ["one"], request("a"))
    path.chmod(0o644)
    record(path, ["two"], request("a"))
    assert path.stat().st_mode & 0o777 == 0o600
    replies = outcomes_of(Replay("r", path), request("a"), request("a"))
    assert [reply.text for reply in replies if isinstance(reply, Reply)] == ["one", "two"]
    assert len(path.read_text().splitlines()) == 3, "one header, two replies"


@pytest.mark.parametrize("cut", [1, 2, 10, 60])
def test_a_line_that_a_kill_cut_short_is_dropped(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "tape.jsonl"
    record(path, ["one", "two"], request("a"), request("a"))
    path.write_bytes(path.read_bytes()[:-cut])
    first, second = outcomes_of(Replay("r", path), request("a"), request("a"))
    assert isinstance(first, Reply)
    assert isinstance(second, ModelError)
    record(path, ["three"], request("a"))
    _, third = outcomes_of(Replay("r", path), request("a"), request("a"))
    assert isinstance(third, Reply)
    assert third.text == "three"


def test_a_tape_that_is_full_says_so_and_stays_whole(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a full disk."""
    code = f"""
import asyncio, resource, signal
from pathlib import Path
from sonde.errors import RunError
from sonde.models.cassette import Recording, Tape
from sonde.models.protocol import Message, Request
from sonde.testing.scripted import ScriptedModel
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
model = Recording(ScriptedModel(*["x" * 1000] * 9), Tape(Path({str(tmp_path / "tape.jsonl")!r})))
async def main():
    for n in range(9):
        try:
            await model.complete(Request((Message("user", "a"),)), 1)
        except RunError as error:
            print(error)
            return
asyncio.run(main())
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert "cannot record to" in process.stdout
    lines = (tmp_path / "tape.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines][1:], "every line is whole"
    assert len(lines) == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        (b"", "is not a cassette"),
        (b"hello", "is not a cassette"),
        (b'{"cassette": 1}', "is not a cassette"),
        (b'{"some": "json"}\n', "is not a cassette"),
        (b"\x00\xff" * 5000, "is not a cassette"),
        (b'{"cassette": %d, "version": "9.9"}\n' % (FORMAT + 1), "newer Sonde, 9.9"),
    ],
)
def test_files_that_cannot_be_played(tmp_path: Path, content: bytes | None, words: str) -> None:
    path = tmp_path / "tape.jsonl"
    if content is not None:
        path.write_bytes(content)
        path.chmod(0o644)
    with pytest.raises(ModelChoiceError, match=words) as caught:
        read_choice(f"replay:{path}")
    assert "\n" not in str(caught.value)
    if content:
        with pytest.raises(ModelChoiceError, match=words):
            Tape(path)
        assert path.read_bytes() == content, "a file that is something else is left alone"
        assert path.stat().st_mode & 0o777 == 0o644


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "tape.jsonl"
    path.write_bytes(b'{"cassette":1}\n{"request":"x","model":"m","asked":""}\n')
    with pytest.raises(ModelChoiceError, match="line 2"):
        choose(f"replay:{path}")
    path.write_bytes(b'{"cassette":1}\nnonsense\n')
    with pytest.raises(ModelChoiceError, match="line 2"):
        choose(f"replay:{path}")
    with pytest.raises(ModelChoiceError, match="cannot record"):
        Tape(tmp_path / "nowhere" / "tape.jsonl")
    with pytest.raises(ModelChoiceError, match="Is a directory"):
        Tape(tmp_path)
    with pytest.raises(ModelChoiceError, match="Is a directory"):
        read_choice(f"replay:{tmp_path}")


def test_a_whole_run_is_played_without_its_server(cli: Cli, serve: OpenServer) -> None:
    """Root and sub models were two, and their replay is one; errors and retries are played as they were."""
    cell = "found = await gather(*[llm(f'Double {n}') for n in range(20)])\nFINAL(sum(map(int, found)))"

    def script(asked: ChatRequest) -> Said | str:
        return run_code(cell) if asked.system else str(2 * int(asked.prompt.removeprefix("Double ")))

    server = serve(script, faults=Faults(0.3, ("429", "500"), seed=2), settings=Settings(retry_after=0.01))
    path = cli.folder / "tape.jsonl"

    async def recorded() -> object:
        tape = Tape(path)
        made = [
            ChatCompletions(name=f"openai:{name}", model=name, base_url=server.url, key="") for name in ("root", "sub")
        ]
        models = {model.name: Recording(model, tape) for model in made}
        spec = RunSpec("Double them.", ModelChoice("openai:root", "openai:sub"), limits=Limits(retry_base_s=0.001))
        result = await start(spec, Surroundings(cli.folder / "runs", models=models))
        tape.close()
        return result.answer

    answer = asyncio.run(recorded())
    assert answer == 380
    assert {json.loads(line)["model"] for line in path.read_text().splitlines()[1:]} == {"openai:root", "openai:sub"}
    asked = len(server.log)
    played = cli("ask", "Double them.", "--model", f"replay:{path}", "--json", "--quiet", "--retry-base", "0.001")
    assert played.code == 0, played.stderr
    assert played.json["answer"] == answer
    assert played.json["usage"]["requests"] == asked == len(server.log)
