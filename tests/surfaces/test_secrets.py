"""Keys and what else the environment holds stay out of the record, the output, the cells and cassettes."""

import asyncio
from pathlib import Path

import pytest

from sonde.engine.run import Surroundings, start
from sonde.models.cassette import Recording, Tape
from sonde.models.chat_completions import ChatCompletions
from sonde.spec import Limits, ModelChoice, RunSpec
from sonde.testing.server import ChatRequest, Faults, Said, Settings, run_code
from tests.cli import Cli, Outcome
from tests.conftest import OpenServer

KEY = "sk-canary-3f9a/+=key"
OTHER = "canary-of-another-variable"
SECRETS = (KEY, OTHER)

LOOK_AROUND = """
import gc, os, sys, traceback
needle = "".join(["can", "ary"])
held = [each for each in gc.get_objects() if isinstance(each, (dict, list, tuple))]
items = [item for each in held for item in (each.values() if isinstance(each, dict) else each)]
seen = [text for text in items if isinstance(text, str) and needle in text != needle]
try:
    raise ValueError(repr(dict(os.environ)))
except ValueError:
    seen.append(traceback.format_exc())
print(seen, dict(os.environ), sys.argv, sys.orig_argv, sorted(globals()))
repr(inputs), repr(context)[:200], [await llm(f"{n}?") for n in range(3)]
"""


@pytest.fixture
def secretive(cli: Cli) -> Cli:
    cli.environment |= {
        "OPENAI_API_KEY": KEY, "MY_KEY": KEY, "AWS_SECRET_ACCESS_KEY": OTHER, "SONDE_TEST_TOKEN": OTHER,
        "SONDE_RETRY_BASE": "0.01",
    }  # fmt: skip
    return cli


def assert_silent(cli: Cli, *outcomes: Outcome) -> None:
    for outcome in outcomes:
        for secret in SECRETS:
            assert secret.encode() not in outcome.stdout
            assert secret not in outcome.stderr
    files = [path for path in cli.folder.rglob("*") if path.is_file()]
    assert any(path.name == "journal.db" for path in files)
    for path in files:
        content = path.read_bytes()
        assert not [secret for secret in SECRETS if secret.encode() in content], path


def looked_at(cli: Cli) -> list[Outcome]:
    """What every way to look at the last run prints."""
    return [cli("--debug", "show", "last", *view) for view in [(), ("--tree", "--json")]]


def reply(request: ChatRequest) -> Said | str:
    return [run_code(LOOK_AROUND), run_code("FINAL(1)")][request.turn] if request.system else "yes"


@pytest.mark.parametrize("key_env", [(), ("--key-env", "MY_KEY")])
def test_a_run_that_goes_well(secretive: Cli, serve: OpenServer, key_env: tuple[str, ...]) -> None:
    (secretive.folder / "input.txt").write_text("nothing secret")
    seen: list[str] = []

    def watched(request: ChatRequest) -> Said | str:
        seen.append(request.prompt)
        return reply(request)

    server = serve(watched, settings=Settings(key=KEY))
    outcome = secretive.ask(server.url, "Look around.", "input.txt", *key_env)
    assert outcome.json["answer"] == 1, outcome.stderr
    [shown] = [text for text in seen if "<stdout>" in text]
    assert "<error" not in shown
    assert not [text for text in seen if "canary" in text]
    assert_silent(secretive, outcome, *looked_at(secretive), secretive("resume", "last", "--json"))


FAILURES = [
    (Settings(key="another", echo_key=True), Faults()),
    (Settings(echo_key=True, retry_after=0.01), Faults(0.5, ("429", "500", "503", "garbage"), seed=1)),
    (Settings(echo_key=True), Faults(1, ("500",))),
    (Settings(echo_key=True), Faults(1, ("garbage",))),
    (Settings(echo_key=True, quota=2), Faults()),
    (Settings(echo_key=True, models=("none",)), Faults()),
]


@pytest.mark.parametrize(("settings", "faults"), FAILURES)
def test_a_server_that_repeats_the_key(secretive: Cli, serve: OpenServer, settings: Settings, faults: Faults) -> None:
    server = serve(reply, settings=settings, faults=faults)
    model = f"openai:test@{server.url}"
    asked = secretive("--debug", "ask", "What?", "--model", model, "--json")
    resumed = secretive("--debug", "resume", "last")
    assert_silent(secretive, asked, resumed, *looked_at(secretive))


def test_addresses_with_secrets_are_not_used(secretive: Cli) -> None:
    for address in (f"http://user:{OTHER}@127.0.0.1/v1", f"http://127.0.0.1/v1?key={OTHER}"):
        outcome = secretive("--debug", "ask", "What?", "--model", f"openai:test@{address}")
        assert outcome.code == 2
        assert OTHER not in outcome.stderr
        assert not (secretive.folder / ".sonde").exists()


@pytest.mark.parametrize("settings", [Settings(key=KEY), Settings(echo_key=True, quota=2)])
def test_cassettes(tmp_path: Path, serve: OpenServer, settings: Settings) -> None:
    server = serve(reply, settings=settings)
    path = tmp_path / "tape.jsonl"

    async def record() -> None:
        tape = Tape(path)
        model = ChatCompletions(name="openai:test", model="test", base_url=server.url, key=KEY)
        spec = RunSpec("What?", ModelChoice("openai:test"), limits=Limits(retries=1, retry_base_s=0.001))
        await start(spec, Surroundings(tmp_path / "runs", models={"openai:test": Recording(model, tape)}))
        tape.close()

    asyncio.run(record())
    lines = path.read_text().splitlines()
    assert len(lines) > 1
    assert not [line for line in lines if KEY in line]
