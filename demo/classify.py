"""A real run without a key: a small model in this process reads 120 messages, code counts what it says of them.

    .venv/bin/python demo/classify.py

The messages and their labels were written for this demo. The run gets the messages alone; the labels are only
opened when it is over, to tell how often the model was right. The wording of the prompt was chosen on other messages.
"""

import asyncio
import json
import os
import sys
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import sonde
from sonde.engine.folder import DEFAULT
from sonde.engine.run import standing
from sonde.events import Usage
from sonde.models import weights
from sonde.models.protocol import Reply, Request, ToolCall

HERE = Path(__file__).parent
MODEL = "smollm2"
QUESTION = "How many of these messages are positive, and how many are negative?"
TELL_EVERY_S = 3.0

CELL = '''
EXAMPLES = """Review: The cushion was dirty and nobody wants to take it back.
Sentiment: negative

Review: The lamp is wonderful and came two days early.
Sentiment: positive

"""

async def label(row):
    reply = await llm(f"{EXAMPLES}Review: {row['message']}\\nSentiment:", label=f"message {row['id']}")
    word = reply.strip().lower().rstrip(".")
    return word if word in ("positive", "negative") else "unclear"

rows = list(inputs["messages"].records())
labels = await gather(*[label(row) for row in rows])
FINAL({row["id"]: given for row, given in zip(rows, labels)})
'''


class Script:
    """A root that needs no model: it always runs the same cell."""

    name = endpoint = "local:script"
    begins_with = 1

    async def complete(self, request: Request, timeout_s: float) -> Reply:
        """Reply with the cell."""
        call = ToolCall("call_0", "eval", json.dumps({"code": CELL}))
        # A reply without any token would be taken for one whose usage is not known.
        return Reply("", (call,), Usage(output_tokens=1, requests=1), "tools", self.name)

    async def close(self) -> None:
        """Nothing to close."""


async def run() -> sonde.Result:
    """Run it, and tell now and then how far it is."""
    run_id = time.strftime("demo-%Y%m%d-%H%M%S")
    work = asyncio.ensure_future(
        sonde.aask(
            QUESTION,
            inputs=[f"messages={HERE / 'sample.jsonl'}"],
            model=Script(),
            sub_model=f"local:{MODEL}",
            route="rlm",
            concurrency=2,
            max_turns=1,
            run_id=run_id,
        )
    )
    began = time.monotonic()
    while not (await asyncio.wait({work}, timeout=TELL_EVERY_S))[0]:
        with suppress(sonde.JournalError):
            coverage = standing(DEFAULT / run_id).coverage
            tell(f"{time.monotonic() - began:4.0f} s: {coverage.done} of {coverage.items} messages")
    return await work


def report(result: sonde.Result) -> None:
    """Print the answer, what it took, how often it was right, and how to look at the run."""
    given: dict[str, str] = result.answer
    right = {str(row["id"]): row["label"] for row in rows_of(HERE / "labels.jsonl")}
    counts, true_counts = Counter(given.values()), Counter(right.values())
    hits = sum(given.get(number) == label for number, label in right.items())
    usage = result.usage
    dollars = "at an unknown price" if result.cost_usd is None else f"${result.cost_usd:.2f}"
    print(QUESTION)
    for label in sorted(counts | true_counts):
        print(f"  {label:9} {counts[label]:3}   (by the sample's own labels {true_counts[label]})")
    print(
        f"cost: {usage.input_tokens:,} tokens in ({usage.cached_tokens:,} of them cached), {usage.output_tokens:,} out,"
        f" {result.calls.ok} calls, {dollars}"
    )
    print(f"time: {result.duration_s:.1f} s")
    share = f"{hits} of {len(right)}, {hits / len(right):.1%}"
    print(f"accuracy: {share}, by the sample's own labels, which the model never saw")
    print(f"look at the run: {command()} show last --tree")


def rows_of(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def command() -> str:
    """Return how `sonde` is called from here."""
    beside = Path(sys.executable).with_name("sonde")
    return os.path.relpath(beside) if beside.exists() else f"{sys.executable} -m sonde"


def tell(line: str) -> None:
    """Print a line for who waits."""
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    """Run the demo and return the exit code."""
    try:
        wanted = weights.KNOWN[MODEL]
        if not wanted.kept:
            tell(f"fetching the model, once: {wanted.about}, {wanted.size / 1e6:.0f} MB")
            weights.pull(wanted)
        tell(f"asking {wanted.about} about each message, in this process and on one thread")
        result = asyncio.run(run())
    except KeyboardInterrupt:
        tell("stopped")
        return 130
    except sonde.SondeError as error:
        tell(f"sonde: error: {error}")
        return 5
    if result.status != "completed":
        tell(f"the run {result.status}: {result.error.message if result.error else ''}")
        return 5
    report(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
