"""The rows: what is measured, against what, and the target."""

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.measure import Took, median, model_server, python, run
from bench.tree import held_by

FOLDER = Path(__file__).parent.parent
SCRIPTS = Path(__file__).parent / "scripts"
PEERS = {"deepagents": 10, "harness": 4}
"""Whom we compare with, and how many times as much processor time a subagent of theirs takes at the least."""
IN_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""A disk makes files slowly for seconds after many were deleted there, and a run of a thousand calls leaves as many."""
SONDE = str(Path(sys.executable).parent / "sonde")

Row = dict[str, Any]


def llm_cpu() -> Iterator[Row]:
    """Processor time of one `llm()` call from a cell through HTTP, against a bare client with the same bodies."""
    number, at_once = 2000, 200
    with model_server() as url, tempfile.TemporaryDirectory() as runs:

        def ours(calls: int) -> Took:
            return python(SCRIPTS / "fan_out.py", url, calls, at_once, runs)

        def bare(calls: int) -> Took:
            return python(SCRIPTS / "bare_client.py", url, calls, at_once)

        ours_us = _per_call_us(ours, number)
        bare_us = _per_call_us(bare, number)
    ratio = ours_us / bare_us
    figures = {"us": round(ours_us), "bare_us": round(bare_us), "ratio": round(ratio, 2)}
    yield {**figures, "target": 2.5, "met": ratio <= 2.5}


def _per_call_us(measure: Callable[[int], Took], number: int) -> float:
    """Return the processor time that each of `number` calls adds to none."""
    none = median(lambda: measure(0), 5).cpu
    return (median(lambda: measure(number), 5).cpu - none) / number * 1e6


def thousand_at_once() -> Iterator[Row]:
    """1,000 calls of 1.0 s each from one cell, against a bare client."""
    number = 1000
    with model_server("1.0") as url, tempfile.TemporaryDirectory() as runs:
        empty = median(lambda: python(SCRIPTS / "fan_out.py", url, 0, number, runs), 3).wall
        ours = median(lambda: python(SCRIPTS / "fan_out.py", url, number, number, runs), 3).wall - empty
        bare_empty = median(lambda: python(SCRIPTS / "bare_client.py", url, 0, number), 3).wall
        bare = median(lambda: python(SCRIPTS / "bare_client.py", url, number, number), 3).wall - bare_empty
    more = ours - bare
    yield {"s": round(ours, 2), "bare_s": round(bare, 2), "more_s": round(more, 2), "target": 0.4, "met": more <= 0.4}


def thousand_adaptive() -> Iterator[Row]:
    """The same with nothing said of how many may be on the wire at once."""
    number = 1000
    with model_server("1.0") as url, tempfile.TemporaryDirectory() as runs:
        empty = median(lambda: python(SCRIPTS / "fan_out.py", url, 0, 0, runs), 3).wall
        took = median(lambda: python(SCRIPTS / "fan_out.py", url, number, 0, runs), 3).wall - empty
        bare = median(lambda: python(SCRIPTS / "bare_client.py", url, number, number), 3).wall
    yield {"s": round(took, 2), "bare_s": round(bare, 2), "target": 6.0, "met": took <= 6.0}


def stream() -> Iterator[Row]:
    """A million calls in one `async for`: what each costs, and the memory, beside a thousand and ten thousand."""
    figures: dict[int, dict[str, float]] = {}
    for number in (1_000, 10_000, 1_000_000):
        with tempfile.TemporaryDirectory(dir=".") as runs:
            figures[number] = json.loads(_printed("stream.py", str(number), runs))
    cost = figures[1_000_000]["us"] / figures[1_000]["us"]
    memory = figures[1_000_000]["peak_mb"] / figures[10_000]["peak_mb"]
    told = {f"{number:,}": {key: round(figure) for key, figure in each.items()} for number, each in figures.items()}
    ratios = {"cost_ratio": round(cost, 2), "memory_ratio": round(memory, 2)}
    yield {**told, **ratios, "target": 1.3, "met": cost <= 1.3 and memory <= 1.3}


def resume() -> Iterator[Row]:
    """Taking up a run whose 5,000 calls are all in its record: how long it takes, and what it asks again."""
    number = 5000
    with tempfile.TemporaryDirectory() as runs, model_server(log=Path(runs, "log.jsonl")) as url:

        def once(n: int) -> float:
            ask = (f"fan out {number} and wait", "--route", "rlm", "--model", f"openai:bench@{url}", "--run-id", str(n))
            run(SONDE, "ask", *ask, "--runs-dir", runs, "--max-turns", "1", "--quiet", status=4)
            asked[0] += number + 1
            return run(SONDE, "resume", str(n), "--runs-dir", runs, "--max-turns", "2", "--quiet").wall

        asked = [0]
        took = statistics.median(once(n) for n in range(5))
        asked[0] += 5  # each resumed root's own second turn
        again = len(Path(runs, "log.jsonl").read_bytes().splitlines()) - asked[0]
    yield {"s": round(took, 2), "asked_again": again, "target": 1.5, "met": took <= 1.5 and again == 0}


def journal() -> Iterator[Row]:
    """Processor time of one fact in the journal."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        each_us = float(_printed("journal.py", "100000", str(Path(folder, "journal.db"))))
    yield {"us": round(each_us, 1), "target": 30, "met": each_us <= 30}


def start() -> Iterator[Row]:
    """From the shell's prompt to the end: an import, the help, and whole runs."""
    nothing = median(lambda: run(sys.executable, "-c", "pass"), 9).wall
    with model_server() as url, tempfile.TemporaryDirectory() as runs:
        model = ("--route", "rlm", "--model", f"openai:bench@{url}")
        ask = (SONDE, "ask", "fan out 1", *model, "--runs-dir", runs, "--quiet")
        cases: dict[str, tuple[Callable[[], Took], float]] = {
            "import sonde": (lambda: run(sys.executable, "-c", "import sonde"), 0.1),
            "sonde --help": (lambda: run(SONDE, "--help"), 0.2),
            "ask over HTTP": (lambda: run(*ask), 0.6),
            "ask in process": (lambda: python(SCRIPTS / "in_process.py", runs), 0.25),
        }
        for what, (measure, target) in cases.items():
            took = median(measure, 9).wall - (nothing if what.startswith("import") else 0)
            yield {"what": what, "ms": round(took * 1000), "target": target * 1000, "met": took <= target}


def interpreters() -> Iterator[Row]:
    """Each interpreter: one cell, one host call, 10,000 calls in flight, a new one; beside a bare round trip."""
    targets = {"eval_us": 60, "host_call_us": 30, "in_flight_us": 40, "new_ms": 10, "cold_ms": 120}
    for name in ("python", "javascript", "monty"):
        floor = float(_printed("ping_pong.py"))
        figures = json.loads(_printed("interpreter.py", name))
        row: Row = {
            "what": name,
            "floor_us": round(floor),
            **{key: round(figure, 1) for key, figure in figures.items()},
        }
        if name == "python":
            row |= {"targets": targets, "met": all(figures[key] <= target for key, target in targets.items())}
        yield row


def document() -> Iterator[Row]:
    """A document of a gigabyte: ready in a cell, private memory, megabytes searched in a second."""
    with tempfile.TemporaryDirectory(dir=".") as folder:
        figures = json.loads(_printed("document.py", folder))
    most = {"ready_s": 0.5, "private_mb": 50}
    least = {"literal_mb_s": 300, "grep_literal_mb_s": 300, "simple_mb_s": 150, "hostile_mb_s": 20}
    met = all(figures[key] <= most[key] for key in most) and all(figures[key] >= least[key] for key in least)
    yield {**{key: round(figure, 3) for key, figure in figures.items()}, "targets": most | least, "met": met}


def task() -> Iterator[Row]:
    """5,000 one-round subagents from one cell, with all as it is by default: what each takes."""
    for what, target in (("text", 0.5), ("schema", 0.7)):
        with tempfile.TemporaryDirectory(dir=FOLDER) as runs:
            each = json.loads(_told(sys.executable, "bench.scripts.task", "5000", "7", runs, what))
        figures = {key: round(figure, 3) for key, figure in each.items()}
        yield {"what": what, **figures, "target": target, "met": each["host_ms"] <= target}


def task_memory() -> Iterator[Row]:
    """Memory of a subagent in flight, while the requests of 5,000 are open at once."""
    for what in ("text", "schema"):
        with tempfile.TemporaryDirectory(dir=FOLDER) as runs:
            taken = [float(_told(sys.executable, "bench.scripts.task_memory", "5000", runs, what)) for _ in range(3)]
        kb = statistics.median(taken)
        yield {"what": what, "kb": round(kb, 1), "target": 25, "met": kb <= 25}


def nested() -> Iterator[Row]:
    """32 agents, each with 32 agents, each with 32 calls, of which 8 may be on the wire: time, and memory of all."""
    number = 32
    with tempfile.TemporaryDirectory(dir=FOLDER) as runs:
        script = [sys.executable, str(SCRIPTS / "nested.py"), str(number), "8", runs]
        held = [held_by(script, FOLDER) for _ in range(3)]
    ended = [json.loads(each.printed) for each in held]
    wall, peak = statistics.median(each["s"] for each in ended), max(each.peak_mb for each in held)
    whole = all(each["status"] == "completed" and each["answer"] == number**3 for each in ended)
    figures = {"s": round(wall, 1), "peak_mb": round(peak), "processes": max(each.processes for each in held)}
    targets = {"s": 60, "peak_mb": 8_000}
    yield {"answers": ended[0]["answer"], **figures, "targets": targets, "met": whole and wall <= 60 and peak <= 8_000}


def peers() -> Iterator[Row]:
    """A thousand subagents from one script, beside others' tools: how many times as much processor time theirs take."""
    here = [name for name in PEERS if _room_of(name, ".ready").exists()]
    took: dict[str, list[dict[str, float]]] = {name: [] for name in ("sonde", *here)}
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as runs:
        for _ in range(3):
            took["sonde"].append(json.loads(_told(sys.executable, "bench.scripts.task", "1000", "7", runs)))
            for name in here:
                theirs = str(_room_of(name, "bin/python"))
                took[name].append(json.loads(_told(theirs, f"bench.peers.run_{name}", "1000", "1")))
    cpu = {name: statistics.median(each["cpu_ms"] for each in all_three) for name, all_three in took.items()}
    wall = {name: statistics.median(each["wall_ms"] for each in all_three) for name, all_three in took.items()}
    yield {"what": "sonde", "cpu_ms": round(cpu["sonde"], 3), "wall_ms": round(wall["sonde"], 3)}
    for name, least in PEERS.items():
        if name not in here:
            yield {"what": name, "skipped": "it is not installed: make bench-peers"}
            continue
        ratio = cpu[name] / cpu["sonde"]
        figures = {"cpu_ms": round(cpu[name], 2), "wall_ms": round(wall[name], 2), "ratio": round(ratio, 1)}
        yield {"what": name, **figures, "target": least, "met": ratio >= least}


def _room_of(peer: str, path: str) -> Path:
    return FOLDER / ".venv-peers" / peer / path


def _told(with_python: str, module: str, *arguments: str) -> str:
    """Return the last line that a module of ours prints, run with some Python: a peer may abort after that."""
    command = [with_python, "-m", module, *arguments]
    ended = subprocess.run(command, check=False, capture_output=True, text=True, cwd=FOLDER)
    if not ended.stdout.strip():
        raise RuntimeError(f"{command} failed: {ended.stderr[-2000:]}")
    return ended.stdout.splitlines()[-1]


def _printed(script: str, *arguments: str) -> str:
    command = [sys.executable, str(SCRIPTS / script), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


ROWS: dict[str, Callable[[], Iterator[Row]]] = {
    "start": start,
    "journal": journal,
    "llm_cpu": llm_cpu,
    "thousand_at_once": thousand_at_once,
    "thousand_adaptive": thousand_adaptive,
    "resume": resume,
    "stream": stream,
    "interpreters": interpreters,
    "document": document,
    "task": task,
    "task_memory": task_memory,
    "nested": nested,
    "peers": peers,
}
