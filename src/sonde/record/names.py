"""Version, ids and times as the record's files have them."""

import hashlib
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal

Kind = Literal["state", "tree", "task", "traj"]

VERSION = "1.0.0"

_MOST_CHARS = 80
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def id_of(kind: Kind, run_id: str, *place: str | int) -> str:
    """Return the id of something in a run: always the same for the same place."""
    where = "\0".join([run_id, *map(str, place)])
    return f"{kind}-{hashlib.blake2b(where.encode('utf-8', 'surrogatepass'), digest_size=4).hexdigest()}"


def task_id(run_id: str, agent: str, call: int) -> str:
    """Return the id of a piece of work: by the call that asked for it, or by its agent if no call did."""
    return id_of("task", run_id, "call", call) if call else id_of("task", run_id, agent)


def moment(at: float) -> str:
    """Return a time as ISO 8601 has it, in UTC."""
    whole, milli = divmod(int(at * 1000), 1000)
    return f"{_second(whole)}.{milli:03}+00:00"


@lru_cache(maxsize=64)
def _second(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def safe_name(name: str) -> str:
    """Return a name that is safe for a file. One that had to be changed tells so with a hash at its end."""
    stem = _UNSAFE.sub("_", name).strip("._-")[:_MOST_CHARS]
    if stem and stem == name:
        return stem
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
    return f"{stem or 'value'}-{digest}"
