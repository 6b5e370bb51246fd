"""Servers fail in every way: the run completes, or says exactly what failed."""

from sonde.testing.server import FAULTS, ChatRequest, Faults, Said, Settings, run_code
from tests.cli import Cli
from tests.conftest import OpenServer

ITEMS = 300
FAN_OUT = f"""
results = await gather(*[llm(f'Double {{n}}', label=f'item {{n}}') for n in range({ITEMS})], return_exceptions=True)
failed = [n for n, result in enumerate(results) if isinstance(result, TaskError)]
right = sum(result == str(2 * n) for n, result in enumerate(results))
"""


def reply(request: ChatRequest) -> Said | str:
    if not request.system:
        return str(2 * int(request.prompt.removeprefix("Double ")))
    return [run_code(FAN_OUT), run_code("FINAL({'right': right, 'failed': failed})")][request.turn]


def impatient(cli: Cli) -> None:
    cli.environment |= {"SONDE_RETRY_BASE": "0.01", "SONDE_CALL_TIMEOUT": "1", "SONDE_CONCURRENCY": "64"}


def test_a_quarter_of_requests_failing_in_mixed_ways(cli: Cli, serve: OpenServer) -> None:
    impatient(cli)
    faults = Faults(0.25, FAULTS, seed=3, spare_agents=True)
    server = serve(reply, faults=faults, settings=Settings(retry_after=0.01))

    outcome = cli.ask(server.url, "Double them.")

    assert outcome.code == 0, outcome.stderr
    told = outcome.json
    assert {entry.fault for entry in server.log} >= set(FAULTS), "every kind of fault was met"
    assert told["coverage"]["items"] == ITEMS
    assert told["coverage"]["done"] + told["coverage"]["failed"] == ITEMS
    assert told["answer"]["right"] == told["coverage"]["done"], "no answer was mangled"
    assert len(told["answer"]["failed"]) == told["coverage"]["failed"] > 0
    assert told["usage"]["requests"] == len(server.log)
    shown = cli("show", "last", "--tree", "--json").json
    first_failures = [line.split(":")[0] for line in shown["agents"][0]["steps"][1]["failures"]]
    assert set(first_failures) <= {f"item {n}" for n in told["answer"]["failed"]}


def test_a_run_goes_on_when_its_own_turns_fail_at_first(cli: Cli, serve: OpenServer) -> None:
    impatient(cli)
    faults = Faults(0.5, ("429", "500", "503", "disconnect", "garbage"), seed=1)
    server = serve(reply, faults=faults, settings=Settings(retry_after=0.01))
    server_settings = ("--retries", "20")
    outcome = cli.ask(server.url, "Double them.", *server_settings)
    assert outcome.code == 0, outcome.stderr
    assert outcome.json["answer"] == {"right": ITEMS, "failed": []}


def test_a_server_that_only_fails_ends_the_run_with_its_reason(cli: Cli, serve: OpenServer) -> None:
    impatient(cli)
    server = serve(reply, faults=Faults(1.0, ("503",)))
    outcome = cli.ask(server.url, "Double them.")
    assert outcome.code == 5
    assert outcome.json["status"] == "failed"
    assert "503" in outcome.json["error"]["message"]
    assert outcome.json["usage"]["requests"] == len(server.log) == 4, "one request and three retries"


def test_what_failed_is_mended_by_asking_again_and_nothing_else_is_asked(cli: Cli, serve: OpenServer) -> None:
    """A cell that raises leaves its paid results to the next identical calls."""
    impatient(cli)
    broken = {"Double 7"}

    def mending(request: ChatRequest) -> Said | str:
        if not request.system:
            return Said("half", finish="length") if request.prompt in broken else reply(request)
        if request.turn == 1:
            assert "TaskError" in request.prompt
            broken.clear()
        fan_out = f"results = await gather(*[llm(f'Double {{n}}') for n in range({ITEMS})])"
        return [run_code(fan_out), run_code(fan_out), run_code("FINAL(sum(map(int, results)))")][request.turn]

    server = serve(mending)
    outcome = cli.ask(server.url, "Double them.")
    assert outcome.json["answer"] == sum(2 * n for n in range(ITEMS))
    assert outcome.json["calls"] == {"total": 2 * ITEMS, "ok": ITEMS, "failed": 1, "cached": ITEMS - 1}
    assert outcome.json["coverage"] == {"items": ITEMS, "done": ITEMS, "failed": 0}
    assert sum(not entry.system for entry in server.log) == ITEMS + 1
