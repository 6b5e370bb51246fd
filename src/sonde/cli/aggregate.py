"""Put the results of many files together: one after the other, or their lines, each once and sorted."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

_CITATION = re.compile(r"\s*\[[^\[\]\n]*@[0-9a-f]{16}, L\d+(?:-\d+)?\]")
_MARK = re.compile(r"(?:[-*+•]|\d+[.)])\s+")
_STATEMENT = re.compile(r"(?:[-*+•]\s+|\d+[.)]\s+)?[*_`]*([^\s:=|][^:=|]{0,39}?)[*_`]*\s*[:=][*_`]*\s+(.{1,80})")

Files = Iterable[Mapping[str, Any]]


def concat(files: Files, conflicts: Mapping[str, Mapping[str, list[str]]]) -> str:
    """Return each result under its file, with where it is from. What contradicts each other stands above."""
    listed = list(files)
    parts = [f"# Results of {len(listed):,} files"]
    if conflicts:
        parts.append("## Conflicts\n\n" + "\n".join(conflict_lines(conflicts)))
    for file in listed:
        source = f"Source: {file['file']}, {file['lines']:,} lines, SHA-256 {file['hash']}…"
        parts.append(f"## {file['file']}\n\n{file['result'].strip()}\n\n_{source}_")
    return "\n\n".join(parts) + "\n"


def conflicts_in(files: Files) -> dict[str, dict[str, list[str]]]:
    """Return what files say differently: for each name, its values, each with the files that say so. It looks at lines
    of the form NAME: VALUE, with short values, and at nothing else."""
    said: defaultdict[str, dict[str, tuple[str, list[str]]]] = defaultdict(dict)
    names: dict[str, str] = {}
    for file in files:
        for line in file["result"].splitlines():
            statement = _STATEMENT.fullmatch(_CITATION.sub("", line).strip())
            if statement is None:
                continue
            key, value = statement[1].strip().casefold(), statement[2].strip().strip("*_`").rstrip(" .;,")
            names.setdefault(key, statement[1].strip())
            _, where = said[key].setdefault(value.casefold(), (value, []))
            if file["file"] not in where:
                where.append(file["file"])
    return {
        names[key]: dict(values.values())
        for key, values in said.items()
        if len(values) > 1 and len({name for _, where in values.values() for name in where}) > 1
    }


def conflict_lines(conflicts: Mapping[str, Mapping[str, list[str]]]) -> list[str]:
    """Return conflicts as they are read."""
    return [
        f"- {name}: " + "; ".join(f"{value} ({', '.join(where)})" for value, where in values.items())
        for name, values in conflicts.items()
    ]


def merge(files: Files) -> str:
    """Return the lines of all results, each once and sorted, with the citations of all that say the same."""
    lines: dict[str, tuple[str, dict[str, None]]] = {}
    for file in files:
        for line in file["result"].splitlines():
            cited = [each.strip() for each in _CITATION.findall(line)]
            text = _MARK.sub("", _CITATION.sub("", line).strip(), count=1)
            key = " ".join(text.casefold().split()).rstrip(".;,")
            if not key or key == "none" or text.startswith("#") or not key.strip("-=*_|: "):
                continue
            _, citations = lines.setdefault(key, (text, {}))
            citations.update(dict.fromkeys(cited))
    ordered = sorted(lines.items(), key=lambda each: each[0])
    return "".join("- " + " ".join((text, *citations)) + "\n" for _, (text, citations) in ordered)


def summary(text: str, files: Files, *, cited: bool) -> str:
    """Return a summary with its sources below: the citations of all results, or the files."""
    if cited:
        sources = dict.fromkeys(citation for file in files for citation in file["citations"])
    else:
        sources = dict.fromkeys(f"{file['file']} ({file['lines']:,} lines, SHA-256 {file['hash']}…)" for file in files)
    return "\n".join((text.strip(), "", "## Sources", "", *(f"- {each}" for each in sources))) + "\n"
