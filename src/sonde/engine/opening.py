"""How a run opens: the system prompt, and the question with what is known of the inputs; never the inputs."""

import json
from pathlib import PurePath
from typing import NamedTuple

from sonde import prompts
from sonde.documents.attach import Inputs
from sonde.engine.job import Prompts
from sonde.guest.document import PEEK_CHARS, WHOLE_LIMIT, Document
from sonde.spec import RunSpec, Schema, Subagent
from sonde.tasks.schemas import instruction

PIECE_CHARS = 30_000
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


def ask_prompts(spec: RunSpec, schema: Schema | None, depth: int = 0) -> Prompts:
    """Return the system prompt of an agent that answers over inputs, for models with tools and for those without."""
    return _both_ways("ask", spec, schema, depth)


def agent_prompts(spec: RunSpec, depth: int = 0) -> Prompts:
    """Return the system prompt of an agent that works in a folder with tools, and runs code."""
    return _both_ways("agent", spec, spec.schema, depth)


def role_prompts(spec: RunSpec, role: Subagent, schema: Schema | None, depth: int, *, sends: bool) -> Prompts:
    """Return a subagent's system prompt: its own, and what the form of its work adds. `sends` tells whether it can
    send others in its turn."""
    added = [] if schema is None else [instruction(schema)]
    if role.interpreter:
        parts = _parts(spec, schema, depth)
        ways: Prompts = {
            way: _joined(
                role.system_prompt, prompts.read("agent_code", **parts, how_to_run=how), *added, parts["depth"]
            )
            for way, how in _how_to_run(spec).items()
        }
        return ways
    if sends:
        added.append(depth_status(depth, spec.limits.max_depth))
    text = _joined(role.system_prompt, *added)
    return {"native": text, "fenced": text}


def direct_prompts(schema: Schema | None) -> Prompts:
    """Return the system prompt for one request that holds the inputs."""
    text = prompts.read("direct", answer_form=_answer_form(schema))
    return {"native": text, "fenced": text}


def depth_status(depth: int, most: int) -> str:
    """Return how deep an agent is, as it is told."""
    told = prompts.read("depth", depth=str(depth), most=str(most), remaining=str(most - depth))
    return told if depth < most else f"{told}\n{prompts.read('depth_reached')}"


def first_message(question: str, inputs: Inputs, spec: RunSpec) -> str:
    """Return the question, what is known of each input, and the limits."""
    limits = spec.limits
    told = [f"{limits.max_turns:,} turns for you", f"{limits.max_calls:,} calls in all"]
    if limits.timeout_s is not None:
        told.append(f"{limits.timeout_s:,.0f} s in all")
    cut = (f"Cut large inputs {spec.cut}.",) if spec.cut else ()
    return "\n\n".join((f"Question: {question}", _described(inputs), *cut, f"Limits: {', '.join(told)}."))


def whole_message(question: str, inputs: Inputs) -> str:
    """Return the question with all the inputs."""
    texts = [f"==> {document.name} <==\n{document[:]}" for document in inputs.documents]
    return "\n\n".join((f"Question: {question}", *texts))


def _both_ways(name: str, spec: RunSpec, schema: Schema | None, depth: int) -> Prompts:
    parts = _parts(spec, schema, depth)
    ways: Prompts = {}
    for way, how in _how_to_run(spec).items():
        code = prompts.read("agent_code", **parts, how_to_run=how)
        ways[way] = _joined(
            prompts.read(name, **parts, how_to_run=how, code=code), prompts.for_family(spec.models.root)
        )
    return ways


def _how_to_run(spec: RunSpec) -> Prompts:
    language = _LANGUAGES[spec.interpreter or "python"]
    fenced = prompts.read("fenced_code", fence=language.fence, example=language.example)
    always = " Every reply uses it, until you have the answer." if spec.mode == "ask" else ""
    return {"native": prompts.read("native_tools", always=always), "fenced": fenced}


def _parts(spec: RunSpec, schema: Schema | None, depth: int) -> dict[str, str]:
    language = _LANGUAGES[spec.interpreter or "python"]
    task = prompts.read("word_task", agents=_agents(spec)) + "\n" if spec.sends_from_code else ""
    js_task = prompts.read("word_task_javascript") + " " if spec.sends_from_code else ""
    differences = "" if language.differences is None else "\n\n" + prompts.read(language.differences, task=js_task)
    return {
        "language": language.name,
        "words": prompts.read("words", differences=differences, task=task),
        "workflow": prompts.read("workflow") + " " if spec.sends_from_code else "",
        "answer_form": _answer_form(schema),
        "piece_chars": f"{PIECE_CHARS:,}",
        "depth": depth_status(depth, spec.limits.max_depth),
    }


def _agents(spec: RunSpec) -> str:
    """Return the kinds of agents that the user has added."""
    named = [f"\n  - `{each.name}`: {each.description}" for each in spec.subagents]
    return "".join((" Kinds beside the general one:", *named)) if named else ""


def _answer_form(schema: Schema | None) -> str:
    return "Answer in plain text." if schema is None else instruction(schema)


def _joined(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part)


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
