"""`sonde config show`, and that every verb heeds what is configured."""

import pytest
from click import Group, Option

from sonde.cli import command
from sonde.cli.defaults import AllDefaults
from sonde.config.keys import KEYS
from sonde.testing.server import ChatRequest, Said, run_code
from tests.cli import Cli
from tests.conftest import OpenServer

PER_CALL = {
    "plain",
    "agent",
    "folder",
    "run_id",
    "json",
    "record",
    "debug",
    "yes",
    "answer",
    "no_code_subagents",
    "args",
    "list",
    "show",
}
"""Flags that say something about one command alone."""
OF_ONE_CALL = {"batch", "fanout"}
"""Commands whose own flags do."""


def reply(request: ChatRequest) -> Said | str:
    return run_code("FINAL(budget.total.calls)") if request.system else "ok"


def test_every_value_has_its_source(cli: Cli) -> None:
    (cli.folder / "sonde.toml").write_text(
        "max_usd = 5\n[rlm]\nmax_sub_calls = 7\nfallback_on_depth_limit = false", encoding="utf-8"
    )
    cli.environment["SONDE_MAX_TURNS"] = "9"
    shown = cli("config", "show", "--json", "--profile", "large-file", "--timeout", "60").json
    values = shown["values"]
    assert values["max_usd"] == {"value": 5, "source": "file", "where": f"{cli.folder}/sonde.toml:max_usd"}
    assert values["max_calls"]["where"] == f"{cli.folder}/sonde.toml:rlm.max_sub_calls"
    assert values["rlm.max_sub_calls"] == values["max_calls"]
    assert (values["rlm.fallback_on_depth_limit"]["value"], values["no_fallback"]["value"]) == (False, True)
    assert values["max_turns"] == {"value": 9, "source": "environment", "where": "SONDE_MAX_TURNS"}
    assert values["rlm.chunk_strategy"] == {"value": "by_function", "source": "profile", "where": "large-file"}
    assert values["max_depth"] == {"value": 2, "source": "profile", "where": "large-file"}
    assert values["timeout"] == {"value": 60, "source": "flag", "where": "--timeout"}
    assert values["concurrency"] == {"value": None, "source": "default", "where": ""}
    assert shown["files"] == [f"{cli.folder}/sonde.toml"]
    assert {"large-file", "multi-file", "corpus", "refactor", "rlm-agent"} <= set(shown["profiles"])


def test_the_list_for_people(cli: Cli) -> None:
    cli.environment["SONDE_STRICT"] = "1"
    lines = [line.split() for line in cli("config", "show", "--profile", "corpus").text.splitlines()]
    assert ["rlm.cache_intermediate", "true", "profile", "corpus"] in lines
    assert ["strict", "true", "environment", "SONDE_STRICT"] in lines
    assert ["max_turns", "100", "default"] in lines


def test_errors_name_the_place(cli: Cli) -> None:
    path = cli.folder / "sonde.toml"
    path.write_text("max_turn = 5\n", encoding="utf-8")
    for command_line in (["config", "show"], ["runs"], ["gc"]):
        outcome = cli(*command_line)
        assert outcome.code == 2
        assert f"{path}:max_turn is not a setting. Did you mean max_turns?" in outcome.error
    assert cli("runs", "--help").code == 0, "help is there whatever the files hold"
    path.unlink()
    assert "no profile 'huge'" in cli("config", "show", "--profile", "huge").error
    assert "--max-turns must be a whole number" in cli("config", "show", "--max-turns", "many").error


def test_a_run_heeds_files_and_flags_beat_them(cli: Cli, serve: OpenServer) -> None:
    server = serve(reply)
    (cli.folder / "a.txt").write_text("text\n", encoding="utf-8")
    settings = f'model = "openai:test@{server.url}"\nmax_calls = 11\nquiet = true\nroute = "rlm"\nruns_dir = "kept"\n'
    (cli.folder / "sonde.toml").write_text(settings, encoding="utf-8")
    inner = cli.folder / "inner"
    inner.mkdir()
    outcome = cli("ask", "How many?", "a.txt", "--json")
    assert (outcome.code, outcome.json["answer"]) == (0, 11), outcome.stderr
    assert (cli.folder / "kept" / outcome.json["run_id"]).is_dir()
    assert cli("ask", "How many?", "a.txt", "--json", "--max-calls", "12").json["answer"] == 12
    cli.environment["SONDE_MAX_CALLS"] = "13"
    assert cli("ask", "How many?", "a.txt", "--json").json["answer"] == 13
    cli.folder = inner
    assert len(cli("runs", "--json").json["runs"]) == 3, "runs_dir is the one beside the file"


def test_a_resumed_run_keeps_its_own_limits(cli: Cli, serve: OpenServer) -> None:
    def two(request: ChatRequest) -> Said | str:
        return run_code("FINAL([await llm('x'), await llm('y')])") if request.system else "ok"

    url = serve(two).url
    limits = ("--max-calls", "1", "--max-turns", "2")
    assert cli.ask(url, "How many?", "--route", "rlm", *limits).json["status"] == "limit"
    (cli.folder / "sonde.toml").write_text("max_calls = 9\nmax_turns = 9\n", encoding="utf-8")
    assert cli("resume", "last", "--json", "--quiet").json["status"] == "limit"
    again = cli("resume", "last", "--json", "--quiet", "--max-calls", "9", "--max-turns", "9")
    assert again.json["answer"] == ["ok", "ok"], again.stderr


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_flag_with_a_variable_can_be_configured() -> None:
    ctx = command.make_context("sonde", [], resilient_parsing=True)
    assert isinstance(command, Group)
    ctx.default_map = AllDefaults()
    missing: set[str] = set()
    for verb in command.list_commands(ctx):
        found = command.get_command(ctx, verb)
        for parameter in found.params if found else ():
            if isinstance(parameter, Option) and isinstance(parameter.envvar, str):
                name = parameter.envvar.removeprefix("SONDE_").lower()
                known = {name, f"{verb}.{name}", f"rlm.{name}"} & set(KEYS) or name in PER_CALL or verb in OF_ONE_CALL
                missing |= set() if known else {f"{verb} {name}"}
    assert not missing, "give each a key in config/keys.py, or say above that it is about one command"
