"""A real run without a key: a small model in this process reads 120 messages, code counts what it says of them.

    .venv/bin/python demo/classify.py

It runs the saved workflow beside this file, as anybody would. The messages and their labels were written for this demo.
The run gets the messages alone; the labels are only opened when it is over, to tell how often the model was right.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import sonde
from sonde.models import weights

HERE = Path(__file__).parent
WORKFLOW = HERE / "sentiment.py"
MESSAGES = f"messages={HERE / 'sample.jsonl'}"
MODEL = "smollm2"


def run() -> dict[str, Any] | None:
    """Run the workflow, and return what it came to; None if it did not begin. Its progress is shown."""
    words = ["run", os.path.relpath(WORKFLOW), MESSAGES, "--model", f"local:{MODEL}", "--concurrency", "2"]
    tell(f"$ {command()} {' '.join(words)}")
    process = subprocess.run([sys.executable, "-m", "sonde", *words, "--json"], stdout=subprocess.PIPE, check=False)
    return json.loads(process.stdout) if process.stdout else None


def report(result: dict[str, Any]) -> None:
    """Print the answer, what it took, how often it was right, and how to look at the run."""
    given: dict[str, str] = result["answer"]["labels"]
    counts = Counter[str](result["answer"]["counts"])
    right = {str(row["id"]): row["label"] for row in rows_of(HERE / "labels.jsonl")}
    true_counts = Counter(right.values())
    hits = sum(given.get(number) == label for number, label in right.items())
    usage = result["usage"]
    dollars = "at an unknown price" if result["cost_usd"] is None else f"${result['cost_usd']:.2f}"
    print("How many of these messages are positive, and how many are negative?")
    for label in sorted(counts | true_counts):
        print(f"  {label:9} {counts[label]:3}   (by the sample's own labels {true_counts[label]})")
    print(
        f"cost: {usage['input_tokens']:,} tokens in ({usage['cached_tokens']:,} of them cached),"
        f" {usage['output_tokens']:,} out, {result['calls']['ok']} calls, {dollars}"
    )
    print(f"time: {result['duration_s']:.1f} s")
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
        tell(f"asking {wanted.about} about each message, without a network")
        result = run()
    except KeyboardInterrupt:
        tell("stopped")
        return 130
    except sonde.SondeError as error:
        tell(f"sonde: error: {error}")
        return 5
    if result is None or result["status"] != "completed":
        return 5
    report(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
