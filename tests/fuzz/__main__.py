"""`python -m tests.fuzz [SECONDS]`: look for frames that the host cannot bear, guided by coverage."""

import asyncio
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

atheris: Any = import_module("atheris")  # it has no types, and is not needed for anything else

with atheris.instrument_imports(include=["sonde.interpreters", "sonde.jsontext"]):
    from tests.fuzz.frames import outcome

SEEDS = (
    b'{"ready":["seccomp"]}',
    b'{"calls":[[1,"llm",{"prompt":"x"}],[2,"sleep",{"until":1.5}]],"cancelled":[]}',
    b'{"calls":[],"cancelled":[1,2]}',
    b'{"waiting":3}',
    b'{"done":{"status":"error","error":{"type":"E","message":"m","traceback":""},"stdout":"\\ud800"},"cell":1}',
)


def framed(body: bytes) -> bytes:
    return len(body).to_bytes(4, "little") + body


def try_one(data: bytes) -> None:
    """Send the data as it is, as one frame, and as one frame cut in two."""
    loop.run_until_complete(outcome([data]))
    loop.run_until_complete(outcome([framed(data)]))
    cut = data[0] if data else 0
    loop.run_until_complete(outcome([framed(data[1:])[:cut], framed(data[1:])[cut:], framed(data)]))


seconds = sys.argv[1] if len(sys.argv) > 1 else "600"
loop = asyncio.new_event_loop()
with tempfile.TemporaryDirectory() as corpus:
    for number, seed in enumerate(SEEDS):
        Path(corpus, str(number)).write_bytes(seed)
        Path(corpus, f"{number}-framed").write_bytes(framed(seed))
    atheris.Setup([sys.argv[0], f"-max_total_time={seconds}", "-timeout=5", "-rss_limit_mb=1024", corpus], try_one)
    atheris.Fuzz()
