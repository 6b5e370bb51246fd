"""Flags that several verbs share. Those made by `option` have an environment variable: `SONDE_` and its name in
capitals."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import click
import msgspec

from sonde.cli.defaults import use_profile
from sonde.documents.cut import RLM_STRATEGIES
from sonde.engine.folder import DEFAULT
from sonde.interpreters.choose import NAMES
from sonde.spec import Approve, Limits, Route, RunSpec

F = TypeVar("F", bound=Callable[..., Any])

_DEFAULTS = Limits()


def option(flag: str, *names: str, **settings: Any) -> Callable[[F], F]:
    """Return a click option with its environment variable."""
    variable = "SONDE_" + flag.partition("/")[0].lstrip("-").replace("-", "_").upper()
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

profile = option(
    "--profile",
    is_eager=True,  # it sets the defaults of all others
    callback=use_profile,
    help="Settings for a kind of work: large-file, multi-file, corpus, refactor, rlm-agent, or one of your own.",
)

record = option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write every model request and its answer to this file; `replay:FILE` plays it again.",
)

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")

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

models: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    option("--model", help="The root's model, as PROVIDER:NAME or PROVIDER:NAME@URL."),
    option("--sub-model", help="The model of all subagents; the root's if not given."),
    option("--also-model", multiple=True, help="Another model that code may name: `llm(..., model=NAME)`."),
    option("--key-env", help="The environment variable with the key, if not the usual one of --model's provider."),
    option("--price", help="Dollars for a million tokens, as IN,OUT, of models whose price is not known."),
)


def _tokens(flag: str, default: int, help_text: str) -> Callable[[F], F]:
    return option(flag, type=click.IntRange(0), default=default, show_default=True, help=help_text)


route: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    option(
        "--route",
        type=click.Choice(get_args(Route)),
        default="auto",
        show_default=True,
        help="Whether one request holds the inputs (direct), or code looks into them (rlm); auto goes by their size.",
    ),
    _tokens("--direct-below", 5_000, "Inputs of fewer tokens go direct."),
    _tokens("--code-above", 20_000, "Inputs of more tokens are looked into by code."),
    option("--plain", is_flag=True, help="One request with the inputs in it: the same as --route direct."),
)


def routed(spec: RunSpec, given: Mapping[str, Any]) -> RunSpec:
    """Return a spec with the route that the flags choose."""
    route: Route = "direct" if given["plain"] else given["route"]
    return msgspec.structs.replace(
        spec, route=route, direct_below=given["direct_below"], code_above=given["code_above"]
    )


schema = option("--schema", type=click.Path(path_type=Path), help="A file with the answer's JSON schema.")

running: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    option("--strict", is_flag=True, help="Refuse inputs that are not valid UTF-8."),
    record,
    runs_dir,
    option("--run-id", help="A name for the run, instead of one made of the time."),
    option("--yes", is_flag=True, help="Do not ask before a run that would be large."),
)

orchestration: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    option(
        "--agents",
        type=click.Path(path_type=Path, file_okay=False, exists=True),
        help="A folder of agent files: kinds of subagents.  [default: .sonde/agents, if it is there]",
    ),
    option(
        "--cache-intermediate",
        is_flag=True,
        help="Keep the answers of `llm` for later runs: the same question again costs nothing.",
    ),
    option("--parallel-sub-calls/--no-parallel-sub-calls", default=True, help="Whether calls overlap.  [default: yes]"),
    option(
        "--chunk-strategy",
        type=click.Choice(RLM_STRATEGIES),
        default="auto",
        help="How the model is told to cut large inputs.  [default: as it sees fit]",
    ),
    option("--chunk-size", type=click.IntRange(1), default=1000, help="Lines of such a piece.  [default: 1000]"),
    option("--no-code-subagents", is_flag=True, help="Code has no word `task`; a model may still use the tool."),
    option("--no-fallback", is_flag=True, help="Fail what may not be sent deeper, rather than ask it directly."),
    option(
        "--approve",
        type=click.Choice(get_args(Approve)),
        help="Ask a person before each cell runs, or before a cell first sends something.",
    ),
)

limits: Callable[[Callable[..., Any]], Callable[..., Any]] = together(
    _limit("--max-turns", int, "Turns of one agent."),
    _limit("--max-depth", int, "How deep agents may nest below the root; at most 5."),
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
