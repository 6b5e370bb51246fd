"""What a run may spend is kept, with the server's own log as the witness; what a server refuses stops it in order."""

import json
from pathlib import Path

import pytest

from sonde.testing.server import ChatRequest, Entry, Faults, FaultServer, Latency, Said, Script, Settings, run_code
from tests.cli import Cli
from tests.conftest import OpenServer

LONG = "x" * 400


def fanning_out(number: int, then: str = "FINAL(len(done))") -> Script:
    """A root that asks about so many items and answers with how many were answered."""
    cell = (
        f"done = []\nfor n in range(0, {number}, 20):\n"
        "    calls = [llm(f'Item {m}? ' + 'y' * 200) for m in range(n, n + 20)]\n"
        "    found = await gather(*calls, return_exceptions=True)\n"
        f"    done += [each for each in found if isinstance(each, str)]\n{then}"
    )

    def reply(request: ChatRequest) -> Said | str:
        return run_code(cell) if request.system else LONG

    return reply


def charged(log: list[Entry]) -> tuple[int, int]:
    """Return the tokens that the server charges for, in and out."""
    return sum(entry.input_tokens for entry in log), sum(entry.output_tokens for entry in log)


@pytest.mark.parametrize(
    ("flag", "most", "weights"),
    [
        ("--max-tokens", 20_000, (1, 1)),
        ("--max-input-tokens", 9_000, (1, 0)),
        ("--max-output-tokens", 6_000, (0, 1)),
        ("--max-usd", 0.05, (2e-6, 5e-6)),
    ],
)
def test_a_limit_is_never_passed_retries_and_faults_included(
    cli: Cli, serve: OpenServer, flag: str, most: float, weights: tuple[float, float]
) -> None:
    kinds = ("429", "500", "disconnect", "cut", "garbage", "truncated")
    faults = Faults(0.2, kinds, seed=3, spare_agents=True)
    server = serve(fanning_out(400), faults=faults, settings=Settings(retry_after=0.01))
    outcome = cli.ask(
        server.url, "How many?", flag, str(most), "--reply-tokens", "150", "--price", "2,5", "--retry-base", "0.01"
    )
    told = outcome.json
    into, out = charged(server.log)
    spent = into * weights[0] + out * weights[1]
    assert 0.3 * most < spent <= most, "the limit is kept, and used"
    assert (outcome.code, told["status"]) == (4, "limit")
    assert flag in told["error"]["message"]
    assert told["coverage"]["done"] + told["coverage"]["failed"] == told["coverage"]["items"]


def test_a_limit_can_be_raised_when_the_run_is_taken_up(cli: Cli, serve: OpenServer) -> None:
    server = serve(fanning_out(60))
    first = cli.ask(server.url, "How many?", "--max-tokens", "7000", "--reply-tokens", "150")
    assert first.code == 4
    asked = {entry.digest for entry in server.log if entry.status == 200}
    before = len(server.log)
    again = cli("resume", "last", "--json", "--quiet")
    assert again.code == 4, "the limit is as it was"
    assert {entry.digest for entry in server.log[before:]}.isdisjoint(asked)
    before = len(server.log)
    outcome = cli("resume", "last", "--max-tokens", "100000", "--json", "--quiet")
    assert (outcome.code, outcome.json["answer"]) == (0, 60)
    assert outcome.json["coverage"] == {"items": 60, "done": 60, "failed": 0}
    assert {entry.digest for entry in server.log[before:]}.isdisjoint(asked), "nothing is paid twice"


def test_four_fifths_of_a_limit_are_told(cli: Cli, serve: OpenServer) -> None:
    server = serve(fanning_out(60))
    url = f"openai:test@{server.url}"
    outcome = cli("ask", "How many?", "--model", url, "--max-tokens", "12000", "--reply-tokens", "150")
    assert outcome.stderr.count("four fifths of --max-tokens are spent") == 1


def test_dollars_need_a_price(cli: Cli, serve: OpenServer) -> None:
    server = serve(fanning_out(20))
    outcome = cli.ask(server.url, "How many?", "--max-usd", "1")
    assert outcome.code == 2
    assert "--price IN,OUT" in outcome.error
    assert not server.log
    outcome = cli.ask(server.url, "How many?", "--max-usd", "1", "--price", "1,2")
    into, out = charged(server.log)
    assert outcome.json["cost_usd"] == pytest.approx((into + 2 * out) / 1e6)
    assert f"{outcome.json['cost_usd']:.6f}" in cli("show", "last", "--cost").text
    assert cli.ask(server.url, "How many?", "--price", "free").code == 2


def test_figures_are_the_servers_own(cli: Cli, serve: OpenServer) -> None:
    server = serve(fanning_out(40))
    used = cli.ask(server.url, "How many?").json["usage"]
    into, out = charged(server.log)
    assert (used["input_tokens"], used["output_tokens"], used["requests"]) == (into, out, len(server.log))


def test_usage_that_nobody_reports_is_told_apart(cli: Cli, serve: OpenServer) -> None:
    faults = Faults(0.2, ("cut",), seed=2, spare_agents=True)
    server = serve(fanning_out(40), faults=faults)
    used = cli.ask(server.url, "How many?", "--retry-base", "0.01").json["usage"]
    reported = [entry for entry in server.log if entry.status == 200]
    assert used["input_tokens"] == sum(entry.input_tokens for entry in reported)
    assert used["output_tokens"] == sum(entry.output_tokens for entry in reported)
    shown = cli("show", "last", "--cost").text
    assert "not reported" in shown


@pytest.mark.parametrize("settings", [Settings(quota=30), Settings(key="sk-right")])
def test_an_account_that_is_used_up_stops_the_run_until_it_is_mended(cli: Cli, settings: Settings) -> None:
    with FaultServer(fanning_out(60), settings=settings) as server:
        outcome = cli.ask(server.url, "How many?", "--run-id", "dry")
    assert (outcome.code, outcome.json["status"]) == (4, "limit")
    refused = [entry for entry in server.log if entry.status in {401, 429}]
    assert 1 <= len(refused) <= 20, "nothing more is sent once it is known"
    paid = {entry.digest for entry in server.log if entry.status == 200 and not entry.system}
    assert outcome.json["calls"]["ok"] == len(paid)
    assert "sonde resume dry" in outcome.stderr
    with FaultServer(fanning_out(60), port=int(server.url.split(":")[2].removesuffix("/v1"))) as mended:
        outcome = cli("resume", "dry", "--json", "--quiet")
    assert (outcome.code, outcome.json["answer"]) == (0, 60), outcome.stderr
    assert paid.isdisjoint({entry.digest for entry in mended.log if not entry.system}), "nothing is paid twice"


def test_a_burst_of_refusals_costs_no_call(cli: Cli, serve: OpenServer) -> None:
    server = serve(fanning_out(200), settings=Settings(capacity=5, latency=Latency(0.01), retry_after=0.05))
    outcome = cli.ask(server.url, "How many?", "--retries", "0", "--retry-base", "0.01")
    assert (outcome.code, outcome.json["answer"]) == (0, 200)
    assert any(entry.status == 429 for entry in server.log)


def test_answers_are_kept_for_later_runs_if_code_says_so(cli: Cli, serve: OpenServer) -> None:
    cell = "FINAL(len(await gather(*[llm(f'Item {n}?', cache=True) for n in range(10)])))"
    server = serve(lambda request: run_code(cell) if request.system else "yes")
    first = cli.ask(server.url, "How many?").json
    assert first["calls"] == {"total": 10, "ok": 10, "failed": 0, "cached": 0}
    sent = len(server.log)
    second = cli.ask(server.url, "How many?").json
    assert second["calls"] == {"total": 10, "ok": 0, "failed": 0, "cached": 10}
    assert second["coverage"] == {"items": 10, "done": 10, "failed": 0}
    assert len(server.log) == sent + 1, "the root alone was asked"
    assert json.loads(cli("show", "last", "--json").text)["calls"]["cached"] == 10
    assert Path(cli.folder, ".sonde/runs/cache.db").stat().st_mode & 0o077 == 0
