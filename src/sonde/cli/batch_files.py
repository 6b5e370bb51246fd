"""The files of a batch: one for each answer, one with all of them, and a report."""

import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sonde.cli import aggregate
from sonde.cli.spread import costs
from sonde.engine.result import Result
from sonde.errors import UsageError
from sonde.record.files import octets
from sonde.spec import RunSpec

AGGREGATE, REPORT = "aggregate.md", "report.md"
_NOT_CACHED = "not in the cache"
_UNUSUAL = re.compile(r"[^A-Za-z0-9._-]+")
_LONGEST = 100


def make(folder: Path) -> None:
    """Make the folder. Raises `UsageError` if it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error


def drop_if_empty(folder: Path) -> None:
    """Remove a folder in which nothing was written."""
    with suppress(OSError):
        folder.rmdir()


def write(result: Result, spec: RunSpec) -> dict[str, Any]:
    """Write what a batch came to, and return it as scripts get it. Raises `UsageError` if it cannot be written."""
    folder, answer = Path(spec.args["folder"]), result.answer
    files: list[dict[str, Any]] = []
    for file, name in zip(answer["files"], names_of(each["file"] for each in answer["files"]), strict=True):
        path = str(folder / f"{name}.result.md") if file["ok"] else None
        about = {"file": file["file"], "hash": file["hash"], "lines": file["lines"], "ok": file["ok"], "path": path}
        about |= {"result": file.get("result"), "citations": file.get("citations", []), "error": file.get("error")}
        files.append(about)
    good = [each for each in files if each["ok"]]
    notes: list[str] = answer["notes"]
    told: dict[str, Any] = {
        "status": "FAILED" if not good else "SUCCESS" if len(good) == len(files) and not notes else "PARTIAL",
        "files": files,
        "aggregate": str(folder / AGGREGATE) if good else None,
        "report": str(folder / REPORT),
        "conflicts": aggregate.conflicts_in(good) if spec.args["aggregate"] == "concat" else {},
        "notes": notes,
        "missed": _missed(files, notes),
    }
    try:
        for each in good:
            Path(each["path"]).write_bytes(octets(each["result"].rstrip("\n") + "\n"))
        if good:
            (folder / AGGREGATE).write_bytes(octets(_together(good, answer["summary"], told, spec)))
        (folder / REPORT).write_bytes(octets(_report(told, result, spec)))
    except OSError as error:
        raise _unwritable(folder, error) from error
    return told


def names_of(files: Iterable[str]) -> list[str]:
    """Return a name for the result of each file: what is unusual in names becomes a dash, and none is there twice."""
    taken: set[str] = set()
    names: list[str] = []
    for file in files:
        plain = _UNUSUAL.sub("-", file).strip("-.")[-_LONGEST:].lstrip("-.") or "file"
        name, number = plain, 1
        while name.casefold() in taken:
            number += 1
            name = f"{plain}-{number}"
        taken.add(name.casefold())
        names.append(name)
    return names


def as_text(told: dict[str, Any]) -> str:
    """Return on a few lines what a batch came to."""
    files = told["files"]
    lines = [f"{told['status']}: {sum(each['ok'] for each in files):,} of {len(files):,} files"]
    lines += [f"  {each['file']}  {_near(each['path']) if each['ok'] else _failed(each)}" for each in files]
    lines += [f"Conflict: {line.removeprefix('- ')}" for line in aggregate.conflict_lines(told["conflicts"])]
    lines += [f"Note: {note}" for note in told["notes"]]
    lines += [f"All results: {_near(told['aggregate'])}"] if told["aggregate"] else []
    return "\n".join((*lines, f"Report: {_near(told['report'])}"))


def _failed(file: dict[str, Any]) -> str:
    return f"failed: {file['error']}"


def _near(path: str) -> str:
    """Return a path as it is from here, if it is below."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if Path(path).is_relative_to(here) else path


def _missed(files: list[dict[str, Any]], notes: list[str]) -> list[str]:
    """Return what was not in the cache."""
    missed = [each["file"] for each in files if _NOT_CACHED in (each["error"] or "")]
    return missed + ["the summary" for note in notes if _NOT_CACHED in note]


def _together(good: list[dict[str, Any]], summed_up: str | None, told: dict[str, Any], spec: RunSpec) -> str:
    if spec.args["aggregate"] == "merge":
        return aggregate.merge(good)
    if summed_up is not None:
        return aggregate.summary(summed_up, good, cited=spec.args["citations"])
    return aggregate.concat(good, told["conflicts"])


def _report(told: dict[str, Any], result: Result, spec: RunSpec) -> str:
    files = told["files"]
    lines = ["# Batch report", "", f"- Status: {told['status']}", f"- Run: {result.run_id}"]
    lines += [f"- Run ended: {result.status}"] if result.status != "completed" else []
    lines += [f"- Prompt: {' '.join(spec.question.split())}", f"- Model: {spec.models.sub or spec.models.root}"]
    lines += [f"- Files: {sum(each['ok'] for each in files):,} of {len(files):,}"]
    lines += [f"- Aggregate: {spec.args['aggregate']}", f"- Took: {costs(result)}, {result.duration_s:,.1f} s"]
    lines += [f"- Note: {note}" for note in told["notes"]]
    lines += ["", "| file | SHA-256 | result |", "|---|---|---|"]
    for each in files:
        came = Path(each["path"]).name if each["ok"] else _failed(each)
        lines.append(f"| {_in_row(each['file'])} | {each['hash']} | {_in_row(came)} |")
    if told["conflicts"]:
        lines += ["", "## Conflicts", "", *aggregate.conflict_lines(told["conflicts"])]
    return "\n".join(lines) + "\n"


def _in_row(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def _unwritable(folder: Path, error: OSError) -> UsageError:
    return UsageError(f"cannot write in {folder}: {error.strerror}", "Choose another place with --output-dir.")
