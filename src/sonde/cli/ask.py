"""`sonde ask`: answer a question over inputs of any size."""

import json
from pathlib import Path
from typing import Any, cast

import click

from sonde.cli import options
from sonde.cli.drive import drive
from sonde.engine.run import Surroundings, start
from sonde.errors import UsageError
from sonde.models.prices import read_price
from sonde.spec import Limits, ModelChoice, RunSpec


@click.command(short_help="Answer a question over inputs of any size.")
@click.argument("question")
@click.argument("inputs", nargs=-1, metavar="[INPUT]...")
@options.option("--model", help="The root's model, as PROVIDER:NAME or PROVIDER:NAME@URL.")
@options.option("--sub-model", help="The model that `llm` asks; the root's if not given.")
@options.option("--also-model", multiple=True, help="Another model that code may name: `llm(..., model=NAME)`.")
@options.option("--key-env", help="The environment variable with the key, if not the usual one of --model's provider.")
@options.option("--schema", type=click.Path(path_type=Path), help="A file with the answer's JSON schema.")
@options.option("--strict", is_flag=True, help="Refuse inputs that are not valid UTF-8.")
@options.interpreter
@options.limits
@options.option("--price", help="Dollars for a million tokens, as IN,OUT, of models whose price is not known.")
@options.record
@options.runs_dir
@options.option("--run-id", help="A name for the run, instead of one made of the time.")
@options.output
@click.pass_context
def ask(
    ctx: click.Context,
    /,
    question: str,
    inputs: tuple[str, ...],
    **given: Any,
) -> None:
    """Answer QUESTION over inputs of any size.

    An INPUT is a file, a folder, a quoted glob, NAME=PATH to name it, or - for standard input. Files that end in .gz
    or .zst are read through. The inputs stay outside the model: code looks into them and asks a model about the pieces.

    \b
    sonde ask "How many reviews complain about delivery?" reviews.csv --model openai:gpt-5.5
    zcat app.log.gz | sonde ask "What failed first?" - --model ollama:qwen3-coder
    sonde ask "Which modules touch the network?" src/ --model openai:NAME@http://127.0.0.1:8000/v1

    Exit codes: 0 completed, 2 usage error, 3 needs a person, 4 a limit was reached, 5 failed, 130 cancelled.
    """
    if not given["model"]:
        raise UsageError("no model was chosen", "Give --model PROVIDER:NAME, or set SONDE_MODEL.")
    if not question.strip():
        raise UsageError("the question is empty", "Say what you want to know.")
    spec = RunSpec(
        question=question,
        models=ModelChoice(given["model"], given["sub_model"], given["key_env"], given["also_model"]),
        inputs=inputs,
        limits=Limits.from_options(given),
        schema=_schema(given["schema"]),
        price=None if given["price"] is None else read_price(given["price"]),
        strict=given["strict"],
        interpreter=given["interpreter"],
        unconfined=given["interpreter_unconfined"],
        guest_packages=tuple(name.strip() for name in given["guest_packages"].split(",") if name.strip()),
    )
    around = Surroundings(given["runs_dir"], given["run_id"], record=given["record"])
    ctx.exit(drive(lambda place: start(spec, place), around, as_json=given["as_json"], quiet=given["quiet"]))


def _schema(path: Path | None) -> dict[str, Any] | None:
    if path is None:
        return None
    try:
        schema = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the schema {path}: {error.strerror}", "Check the path.") from error
    except ValueError as error:
        raise UsageError(f"the schema {path} is not JSON: {error}", "Mend the file.") from error
    if not isinstance(schema, dict):
        raise UsageError(f"the schema {path} is not a JSON object", "Mend the file.")
    return cast("dict[str, Any]", schema)
