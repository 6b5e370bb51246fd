"""Inputs two orders of magnitude beyond the model's window."""

from pathlib import Path

from sonde.testing.server import ChatRequest, Latency, Said, Settings, run_code
from tests.cli import Cli
from tests.conftest import OpenServer

WINDOW = 8000
NEEDLE = "the-needle-4711"

LOOK = "print(len(context), context.count('\\n'))"
COUNT = """
lines = context.splitlines()
batches = [lines[n:n + 200] for n in range(0, len(lines), 200)]
answers = await gather(*[llm('How many of these are about sport?\\n' + '\\n'.join(batch)) for batch in batches])
total = sum(map(int, answers))
"""
FIND = f"at = context.find({NEEDLE!r})\nprint(context[at:at + 20])"


def reply(request: ChatRequest) -> Said | str:
    if not request.system:
        return str(request.prompt.count("sport:"))
    return [run_code(LOOK), run_code(COUNT), run_code(FIND), run_code("FINAL(total)")][request.turn]


def records(path: Path, number: int) -> int:
    """Write records of 80 bytes, with a needle in the middle, and return how many are about sport."""
    kinds = ("sport", "world", "money")
    lines = [f"{kinds[n * n % 7 % 3]}: record {n:07d} " for n in range(number)]
    lines[number // 2] += NEEDLE
    text = "".join(line.ljust(79, ".") + "\n" for line in lines)
    path.write_text(text)
    return sum(line.startswith("sport") for line in lines)


def test_an_input_of_a_hundred_windows_is_counted_exactly(cli: Cli, serve: OpenServer) -> None:
    largest: list[int] = []
    for number in (40_000, 400):
        server = serve(reply, settings=Settings(window=WINDOW))
        sport = records(cli.folder / "records.txt", number)
        outcome = cli.ask(server.url, "How many records are about sport?", "records.txt")
        assert outcome.code == 0, outcome.stderr
        assert outcome.json["answer"] == sport
        assert outcome.json["coverage"] == {"items": number // 200, "done": number // 200, "failed": 0}
        assert all(entry.status == 200 for entry in server.log), "no request was above the window"
        largest.append(max(entry.tokens for entry in server.log if entry.system))

    assert (cli.folder / "records.txt").stat().st_size == 400 * 80
    assert abs(largest[0] - largest[1]) <= 5, "the root sees as much of a large input as of a small one"


def test_a_needle_is_not_in_the_conversation_until_code_prints_it(cli: Cli, serve: OpenServer) -> None:
    seen: list[tuple[int, bool]] = []

    def watching(request: ChatRequest) -> Said | str:
        if request.system:
            seen.append((request.turn, any(NEEDLE in str(message["content"]) for message in request.messages)))
        return reply(request)

    records(cli.folder / "records.txt", 4000)
    outcome = cli.ask(serve(watching).url, "How many records are about sport?", "records.txt")
    assert outcome.code == 0, outcome.stderr
    assert seen == [(0, False), (1, False), (2, False), (3, True)]


def test_the_calls_of_one_cell_overlap_up_to_the_limit(cli: Cli, serve: OpenServer) -> None:
    server = serve(reply, settings=Settings(latency=Latency(0.02)))
    records(cli.folder / "records.txt", 40_000)
    cli.ask(server.url, "How many records are about sport?", "records.txt", "--concurrency", "7")
    assert server.most_at_once == 7
