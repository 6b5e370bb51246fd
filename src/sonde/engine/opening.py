"""How a run opens: the system prompt, and the question with what is known of the inputs; never the inputs."""

import json
from pathlib import PurePath
from typing import Literal, NamedTuple

from sonde import prompts
from sonde.documents.attach import Inputs
from sonde.guest.document import PEEK_CHARS, WHOLE_LIMIT, Document
from sonde.spec import RunSpec
from sonde.tasks.schemas import instruction

_PIECE_CHARS = 30_000
_MOST_PREVIEWED = 8
_MOST_NAMED = 40
_KINDS = {
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".json": "JSON",
    ".csv": "CSV",
    ".tsv": "CSV",
    ".md": "Markdown",
    ".html": "HTML",
    ".log": "log",
}


class _Language(NamedTuple):
    """How the prompt speaks of the language of cells. `differences` names the text that tells how it is not Python."""

    name: str = "Python"
    fence: str = "python"
    example: str = "print(len(context))"
    differences: str | None = None


_LANGUAGES = {
    "python": _Language(),
    "javascript": _Language("JavaScript", "js", "console.log(context.length)", "javascript"),
    "monty": _Language(differences="monty"),
}


def system_prompts(spec: RunSpec) -> dict[Literal["native", "fenced"], str]:
    """Return the root's system prompt, for models with tools and for those without."""
    form = "Answer in plain text." if spec.schema is None else instruction(spec.schema)
    language = _LANGUAGES[spec.interpreter or "python"]
    fenced = prompts.read("fenced_code", fence=language.fence, example=language.example)
    return {
        "native": _system_prompt(language, prompts.read("native_tools"), form),
        "fenced": _system_prompt(language, fenced, form),
    }


def first_message(spec: RunSpec, inputs: Inputs) -> str:
    """Return the question, what is known of each input, and the limits."""
    limits = [f"{spec.limits.max_turns:,} turns for you", f"{spec.limits.max_calls:,} calls in all"]
    if spec.limits.timeout_s is not None:
        limits.append(f"{spec.limits.timeout_s:,.0f} s in all")
    return "\n\n".join((f"Question: {spec.question}", _described(inputs), f"Limits: {', '.join(limits)}."))


def _system_prompt(language: _Language, how_to_run: str, answer_form: str) -> str:
    differences = "" if language.differences is None else "\n\n" + prompts.read(language.differences)
    return prompts.read(
        "ask",
        language=language.name,
        differences=differences,
        how_to_run=how_to_run,
        answer_form=answer_form,
        piece_chars=f"{_PIECE_CHARS:,}",
    )


def _described(inputs: Inputs) -> str:
    documents = inputs.documents
    if not documents:
        return "There are no inputs: `context` is empty."
    lines = [f"Inputs: {len(documents):,}. {_context_line(inputs)}"]
    for number, document in enumerate(documents[:_MOST_NAMED]):
        lines.append(_line_about(document))
        if number < _MOST_PREVIEWED:
            lines.extend(_preview(document))
    if len(documents) > _MOST_NAMED:
        lines.append(f"- … and {len(documents) - _MOST_NAMED:,} more: `list(inputs)` names them.")
    return "\n".join(lines)


def _context_line(inputs: Inputs) -> str:
    if len(inputs.documents) > 1:
        total = sum(len(document) for document in inputs.documents)
        return f"`context` is a Document that joins them, {total:,} characters without the headings."
    only = inputs.documents[0]
    kind = "a str" if only.size <= WHOLE_LIMIT else "a Document"
    return f"`context` is {kind} of {len(only):,} characters."


def _line_about(document: Document) -> str:
    kind = _KINDS.get(PurePath(document.name).suffix.lower(), "text")
    return f"- {_quoted(document.name)}: {kind}, {len(document):,} characters, {document.line_count:,} lines"


def _preview(document: Document) -> list[str]:
    if len(document) <= 2 * PEEK_CHARS:
        return [f"  all of it: {_quoted(document[:])}"]
    return [
        f"  begins: {_quoted(document[:PEEK_CHARS])}",
        f"  ends: {_quoted(document[-PEEK_CHARS:])}",
    ]


def _quoted(text: str) -> str:
    """Return text in quotes on one line, so that it cannot pass for a part of the message."""
    return json.dumps(text, ensure_ascii=False)
