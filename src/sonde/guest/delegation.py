"""The words that hand work to agents, tools and saved workflows, and those that tell how it goes.

As `vocabulary.py`, it runs in every Python and keeps to what Monty knows. Beside the host's functions the interpreter
puts `document_number`, which gives the number of a document that the host knows, or None.
"""

from typing import Any

host_call: Any
host_call_now: Any
host_call_all_now: Any
document_number: Any
world: dict[str, Any]

GENERAL = "general-purpose"
_OTHER_NAMES = {"subagentType": "subagent_type", "responseSchema": "response_schema"}


async def task(
    description: Any,
    subagent_type: str | None = GENERAL,
    response_schema: dict[str, Any] | None = None,
    label: str | None = None,
    model: str | None = None,
    timeout: float | None = None,  # noqa: ASYNC109 - the host keeps it
    **more: Any,
) -> Any:
    """Send a subagent: it sees the description and nothing else, and works with tools of its own. With a JSON schema
    the value is data, not text. All can also be given as one dict."""
    fields: dict[str, Any] = {"description": description, "subagent_type": subagent_type}
    fields |= {"response_schema": response_schema, "label": label, "model": model, "timeout": timeout}
    if isinstance(description, dict):
        more = {**description, **more}
        fields["description"] = None
    for name, value in more.items():
        known = _OTHER_NAMES.get(name, name)
        if known not in fields:
            raise TypeError(f"task takes no {name!r}: it takes {', '.join(fields)}")
        fields[known] = value
    return await host_call("task", _task_request(fields))


def _task_request(fields: dict[str, Any]) -> dict[str, Any]:
    given = {name: value for name, value in fields.items() if value is not None}
    given["subagent_type"] = given.get("subagent_type", GENERAL)
    for name in ["description", "subagent_type"]:
        if not isinstance(given.get(name), str):
            raise TypeError(f"task: the {name} must be a str, not {type(given.get(name)).__name__}")
    return given


async def rlm(
    question: str, context: Any = None, schema: dict[str, Any] | None = None, model: str | None = None
) -> Any:
    """Ask an agent with an interpreter of its own, one level deeper. Its context is a text, or a document by handle;
    without one it has the same inputs."""
    return await host_call("rlm", _rlm_request(question, context, schema, model))


def rlm_query(question: str, context: Any = None, model: str | None = None) -> Any:
    """Do what `rlm` does, and block until it answers."""
    return host_call_now("rlm", _rlm_request(question, context, None, model))


def rlm_query_batched(questions: list[str], contexts: Any = None, model: str | None = None) -> list[Any]:
    """Ask many at once, each with its own context, and block until all have answered."""
    asked = list(questions)
    beside = [None for _ in asked] if contexts is None else list(contexts)
    if len(beside) != len(asked):
        raise ValueError(f"{len(asked)} questions and {len(beside)} contexts: give one for each, or none")
    return host_call_all_now("rlm", [_rlm_request(asked[at], beside[at], None, model) for at in range(len(asked))])


def _rlm_request(question: Any, context: Any, schema: Any, model: str | None) -> dict[str, Any]:
    if not isinstance(question, str):
        raise TypeError(f"rlm: the question must be a str, not {type(question).__name__}")
    given = {"question": question, "context": _handed_over(context), "schema": schema, "model": model}
    return {name: value for name, value in given.items() if value is not None}


def _handed_over(context: Any) -> Any:
    if context is None or isinstance(context, str):
        return context
    number = document_number(context)
    if number is None:
        kind = type(context).__name__
        raise TypeError(f"rlm: the context must be a str or a Document, not {kind}: join its parts, or slice it")
    return {"input": number}


async def workflow(name: str, args: Any = None) -> Any:
    """Run a saved workflow within this run and return its value."""
    return await host_call("workflow", {"name": name, "args": args})


def phase(name: str) -> None:
    """Say what is being done from here on."""
    host_call_now("phase", {"name": str(name)})


def log(text: Any) -> None:
    """Say something to whoever watches the run."""
    host_call_now("log", {"text": str(text)})


def save(name: Any, value: Any) -> None:
    """Keep an intermediate result with the run, under a name."""
    if not isinstance(name, str):
        raise TypeError(f"save: the name must be a str, not {type(name).__name__}")
    host_call_now("save", {"name": name, "value": value})


def results() -> list[dict[str, Any]]:
    """Return all finished calls of the last cell that made any, oldest first: what a failed cell had paid for."""
    return host_call_now("results", {})


class Tools:
    """The tools that code may use, each as a function of its name."""

    def __init__(self, names: list[str]) -> None:
        for name in names:
            setattr(self, name, _tool(name))

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(world["tools"])
        raise AttributeError(f"no tool {name!r}; known: {known}" if known else f"no tool {name!r}: code has none here")

    def __repr__(self) -> str:
        return f"<tools: {', '.join(world['tools']) or 'none'}>"


def _tool(name: str) -> Any:
    async def use(*given: Any, **arguments: Any) -> Any:
        at_once = [*given, arguments] if arguments or not given else list(given)
        if len(at_once) > 1 or not isinstance(at_once[0], dict):
            raise TypeError(f"tools.{name} takes its arguments by name, or as one dict")
        return await host_call("tool", {"name": name, "arguments": at_once[0]})

    return use


def give_help(word: Any = None) -> None:
    """Print the words, one line each; or all about one of them."""
    manual = world["manual"]
    if word is None:
        for name, entry in manual.items():
            print(f"{name:<24}{entry[1]}")
        return
    asked = word if isinstance(word, str) else getattr(word, "__name__", "")
    for name, entry in manual.items():
        if _bare(name) == _bare(asked):
            print(entry[0] + "\n" + "\n".join([f"    {line}" for line in entry[1:] if line]))
            return
    print(f"no word {asked!r}; help() lists them")


def _bare(name: str) -> str:
    return name.replace("_", "").lower()
