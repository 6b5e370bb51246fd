"""A person is asked before code runs, or before it sends something; without an answer nothing happens."""

import pytest

from sonde.testing.server import ChatRequest, Said, run_code
from tests.cli import Cli
from tests.conftest import OpenServer

CELL = "r = await gather(*[llm(f'Item {n}?') for n in range(5)])\nFINAL(len(r))"


def reply(request: ChatRequest) -> Said | str:
    """Run one cell; and if that was refused, give up."""
    if not request.system:
        return "yes"
    return run_code(CELL) if request.turn == 0 else f"gave up: {request.prompt}"


@pytest.mark.parametrize("way", ["eval", "dispatch"])
def test_nothing_is_sent_before_it_is_approved(cli: Cli, serve: OpenServer, way: str) -> None:
    server = serve(reply)
    first = cli.ask(server.url, "How many?", "--approve", way)
    assert (first.code, first.json["status"]) == (3, "escalated")
    shown = "gather" if way == "eval" else "Item 0?"
    assert shown in first.json["error"]["message"]
    assert "sonde resume" in first.stderr
    assert len(server.log) == 1, "the root alone was asked"
    again = cli("resume", "last", "--json", "--quiet")
    assert (again.code, len(server.log)) == (3, 1), "no answer is no approval"
    final = cli("resume", "last", "--answer", "yes", "--json", "--quiet").json
    assert (final["status"], final["answer"]) == ("completed", 5)
    assert len(server.log) == 6


@pytest.mark.parametrize("way", ["eval", "dispatch"])
def test_what_is_refused_is_told_to_the_model(cli: Cli, serve: OpenServer, way: str) -> None:
    server = serve(reply)
    cli.ask(server.url, "How many?", "--approve", way)
    final = cli("resume", "last", "--answer", "too dear", "--json", "--quiet").json
    assert "too dear" in final["answer"]
    assert [entry for entry in server.log if not entry.system] == []
