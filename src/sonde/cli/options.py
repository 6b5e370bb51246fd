"""Flags that several verbs share. Each has an environment variable: `SONDE_` and its name in capitals."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from sonde.engine.folder import DEFAULT
from sonde.interpreters.choose import NAMES
from sonde.spec import Limits

F = TypeVar("F", bound=Callable[..., Any])

_DEFAULTS = Limits()


def option(flag: str, *names: str, **settings: Any) -> Callable[[F], F]:
    """Return a click option with its environment variable."""
    variable = "SONDE_" + flag.lstrip("-").replace("-", "_").upper()
    return click.option(flag, *names, envvar=variable, **settings)


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Return one decorator for several options, which are listed in this order."""

    def decorate(function: F) -> F:
        for each in reversed(options):
            function = each(function)
        return function

    return decorate


runs_dir = option(
    "--runs-dir",
    type=click.Path(path_type=Path, file_okay=False),
    default=DEFAULT,
    show_default=True,
    help="Where runs are kept.",
)

record = option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write every model request and its answer to this file; `replay:FILE` plays it again.",
)

output: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    option(
        "--json",
        "as_json",
        is_flag=True,
        help="Print one JSON object on stdout; all else goes to stderr.",
    ),
    option("--quiet", is_flag=True, help="No progress on stderr."),
)


def _limit(flag: str, kind: type, help_text: str) -> Callable[[F], F]:
    default = getattr(_DEFAULTS, Limits.field_of(flag.lstrip("-").replace("-", "_")))
    shown = "" if default is None else f"  [default: {default:g}]"
    return option(flag, type=kind, help=help_text + shown)


interpreter: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    option(
        "--interpreter",
        type=click.Choice(NAMES),
        help="What runs the cells.  [default: python, or monty where the system cannot confine it]",
    ),
    option("--interpreter-unconfined", is_flag=True, help="Let cells do whatever you may do on this machine."),
    option("--guest-packages", default="", help="Packages that Python cells may import, such as numpy,pandas."),
)

limits: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    _limit("--max-turns", int, "Turns of the root model."),
    _limit("--max-calls", int, "Calls that code may dispatch in the whole run."),
    _limit("--max-tokens", int, "Tokens of the whole run, in and out."),
    _limit("--max-input-tokens", int, "Tokens of all prompts."),
    _limit("--max-output-tokens", int, "Tokens of all replies."),
    _limit("--max-usd", float, "Dollars of the whole run."),
    _limit("--reply-tokens", int, "Tokens of one reply; 4,096 where tokens or dollars are limited."),
    _limit("--timeout", float, "Seconds for the whole run."),
    _limit("--call-timeout", float, "Seconds for one model request."),
    _limit("--cell-cpu", float, "Seconds of processor time for one cell."),
    _limit("--cell-memory", int, "Megabytes of memory for the cells of one interpreter."),
    _limit("--concurrency", int, "Requests on the wire at once, to one endpoint; else as many as it bears."),
    _limit("--retries", int, "How often a failed request is sent again."),
    _limit("--retry-base", float, "Seconds of the first back-off; it doubles each time."),
)
