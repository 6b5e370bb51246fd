"""`sonde chunk`: cut inputs into pieces."""

from pathlib import Path
from typing import Any

import click
import msgspec

from sonde.cli import options
from sonde.cli.output import harmless, print_json, say
from sonde.documents.attach import Inputs, opened
from sonde.documents.cut import STRATEGIES, Plan, plan
from sonde.documents.manifest import Entry, entries, prepare


@click.command(short_help="Cut inputs into pieces, with a manifest.")
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@options.option(
    "--strategy", type=click.Choice(STRATEGIES), default="semantic", help="Where to cut.  [default: semantic]"
)
@options.option(
    "--size", type=int, help="Lines of a piece, at most.  [default: 200; 1,000 in the last four strategies]"
)
@options.option("--overlap", type=int, help="Lines that two neighbours share.  [default: 20; 0 in the last four]")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Write the pieces into this folder.")
@click.option("--force", is_flag=True, help="Cut anew, also if the folder has these pieces already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object: the manifest.")
def chunk(
    inputs: tuple[str, ...], strategy: str, out: Path | None, force: bool, as_json: bool, **sizes: int | None
) -> None:
    """Cut each INPUT (a file, a folder, a quoted glob, NAME=PATH, or - for standard input) into pieces of whole lines.

    \b
    semantic     full pieces that end before a heading, a definition or a paragraph
    adaptive     the same, but shorter where lines are long: 80 characters a line on average
    fixed        every --size lines, wherever that is
    auto         by_function for code, by_section for text with headings, else fixed_size
    by_function  one piece a definition at the margin, in many languages
    by_section   one piece a heading
    fixed_size   as fixed

    With --out DIR the pieces go to DIR/HASH/chunks/, where HASH is made of what is in the inputs, with manifest.json,
    index.json and meta.json beside them. They are used again as they are if the inputs and the flags are the same.

    \b
    sonde chunk report.md
    sonde chunk src/ --strategy by_function --out .sonde/chunks
    sonde chunk big.log --strategy fixed_size --size 1000 --json
    """
    how = plan(strategy, sizes["size"], sizes["overlap"])
    with opened(inputs, strict=False) as attached:
        for note in attached.notes:
            say(f"note: {note}")
        _cut(attached, how, out, anew=force, as_json=as_json)


def _cut(inputs: Inputs, how: Plan, out: Path | None, *, anew: bool, as_json: bool) -> None:
    about: dict[str, Any] = {}
    if out is None:
        made = [entry for entry, _ in entries(inputs, how)]
    else:
        prepared = prepare(inputs, how, out, anew=anew)
        made = prepared.entries
        about = {"folder": str(prepared.folder), "reused": prepared.reused}
    if as_json:
        print_json({**how._asdict(), **about, "chunks": [_as_json(each, kept=bool(about)) for each in made]})
        return
    for each in made:
        label = f"{each.boundary_type}: {each.boundary_label}".removesuffix(": ")
        click.echo(harmless(f"{each.id}  {each.file}:{each.start_line}-{each.end_line}  {label}"))
    if about:
        say(f"{len(made):,} pieces {'were already' if about['reused'] else 'are now'} in {about['folder']}")


def _as_json(entry: Entry, *, kept: bool) -> dict[str, Any]:
    plain = msgspec.to_builtins(entry)
    if not kept:
        del plain["chunk"]
    return plain
