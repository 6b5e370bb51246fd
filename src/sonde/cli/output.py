"""What the command line prints. Text of models, code and inputs is data: it never steers a terminal."""

import json
import re
import sys
from typing import Any

import click
import msgspec

from sonde.engine.result import Result
from sonde.events import Fault, RunStatus, Usage
from sonde.record.files import octets

EXIT_CODES: dict[RunStatus, int] = {
    "completed": 0,
    "escalated": 3,
    "limit": 4,
    "failed": 5,
    "cancelled": 130,
}

# Control characters but tab and line feed, the marks that reorder text, and what nobody would see: it is in code that a
# person is asked to allow. The two joiners are left: scripts and emoji need them.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e007f]"
)


def say(text: str) -> None:
    """Print a line for the user on stderr."""
    click.echo(harmless(text), err=True)


def harmless(text: str) -> str:
    """Return text that a terminal shows and does not obey."""
    return _UNSAFE.sub(lambda found: f"\\x{ord(found[0]):02x}", text).encode("utf-8", "backslashreplace").decode()


def print_answer(answer: Any) -> None:
    """Print an answer on stdout: text as it is, byte for byte unless it goes to a terminal; all else as JSON."""
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, indent=2)
    if sys.stdout.isatty():
        click.echo(harmless(text))
        return
    sys.stdout.buffer.write(octets(text) + b"\n")
    sys.stdout.flush()


def print_json(value: object) -> None:
    """Print one JSON object on stdout."""
    click.echo(json.dumps(value))


def as_json(result: Result) -> dict[str, Any]:
    """Return a result as scripts rely on it."""
    plain = msgspec.to_builtins(result)
    plain["usage"] = usage_as_json(result.usage)
    return plain


def usage_as_json(usage: Usage) -> dict[str, int]:
    """Return the usage figures that scripts rely on."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "cached_tokens": usage.cached_tokens,
        "requests": usage.requests,
    }


def finish(result: Result, *, as_one_object: bool) -> int:
    """Print how a run ended and return the exit code."""
    if as_one_object:
        print_json(as_json(result))
    elif result.answer is not None:
        print_answer(result.answer)
    if result.error is not None:
        say(f"sonde: {result.status}: {result.error.message}")
    if result.status not in {"completed", "failed"}:
        say(f"Nothing finished is lost: sonde resume {result.run_id}")
    return EXIT_CODES[result.status]


def fault_line(fault: Fault | None) -> str:
    """Return a fault on one line."""
    return "" if fault is None else " ".join(fault.message.split())


def dollars(amount: float | None) -> str:
    """Return an amount of money as people read it; None is one that nobody knows."""
    if amount is None:
        return "unknown"
    return f"${amount:,.2f}" if amount == 0 or amount >= 1 else f"${amount:.6f}"


def seconds(duration: float) -> str:
    """Return a duration as people read it."""
    if duration < 60:
        return f"{duration:.1f} s"
    minutes, rest = divmod(int(duration), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
