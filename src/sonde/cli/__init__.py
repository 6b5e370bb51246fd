"""The command line: one file a verb, loaded when it is used."""

import gc
import os
import sys
import traceback
from importlib import import_module

import click

from sonde.cli.defaults import AllDefaults
from sonde.errors import RunCancelled, SondeError, UsageError
from sonde.version import __version__

_COLLECTIONS = (20_000, 50, 100)
"""How seldom Python looks for garbage: a run makes much and little of it in circles, so the usual takes a third of its
time."""

_VERBS = {
    "ask": "Answer a question over inputs of any size.",
    "agent": "Do a piece of work in a folder, with tools, code and subagents.",
    "run": "Run a saved workflow.",
    "plan": "Tell what a question would take; send nothing.",
    "resume": "Go on with a run that was cut short; nothing finished is paid again.",
    "cancel": "Stop a run that another process drives.",
    "runs": "List the runs.",
    "show": "Show what a run did and what it took.",
    "diff": "Tell where two runs differ.",
    "export": "Write a run's record to files.",
    "models": "List models and keys, fetch weights, try a model.",
    "gc": "Drop old runs by age and size.",
    "chunk": "Cut inputs into pieces, with a manifest.",
    "grep": "Find lines in inputs of any size.",
    "fanout": "Ask the same question about each piece of the inputs.",
    "batch": "Ask about each file on its own.",
    "config": "Tell which settings count, and where each comes from.",
    "doctor": "Tell what works on this machine, and why not; check and repair a run's record.",
}


class _Verbs(click.Group):
    """Loads a verb's file only when that verb is used; `--help` needs none of them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _VERBS:
            return None
        return getattr(import_module(f"sonde.cli.{cmd_name}"), cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_VERBS.items()))


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="sonde")
@click.option("--debug", is_flag=True, envvar="SONDE_DEBUG", help="Show tracebacks of errors.")
@click.pass_context
def command(ctx: click.Context, /, debug: bool) -> None:
    """Let a probe down into inputs too large for a model's window.

    The input stays outside the model, as a variable of an interpreter. The model writes code that cuts it up, counts in
    code, and asks further models about the pieces.

    \b
    sonde ask "Which customers complain about billing?" calls.jsonl --model openai:gpt-5.5
    sonde resume last
    sonde show last --tree
    """
    if debug:
        os.environ["SONDE_DEBUG"] = "1"
    ctx.default_map = AllDefaults()


def main() -> None:
    """Run the command line and leave with its exit code. An error is one line, unless --debug."""
    gc.set_threshold(*_COLLECTIONS)
    try:
        status = command.main(standalone_mode=False)
    except click.exceptions.Abort:
        status = 130
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except SondeError as error:
        if os.environ.get("SONDE_DEBUG"):
            traceback.print_exc()
        click.echo(f"sonde: error: {error}", err=True)
        status = 2 if isinstance(error, UsageError) else 130 if isinstance(error, RunCancelled) else 5
    sys.exit(status if isinstance(status, int) else 0)
