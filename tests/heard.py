"""Scripts of model servers that remember what they were asked, and what can be read off a request."""

import json
from pathlib import Path
from typing import Any

from sonde.testing.server import ChatRequest, Said, Script, ToolUse, run_code

STATUS = "## RLM Depth\nCurrent depth: {depth}/{most}. Remaining: {left}."
REACHED = "MAX DEPTH REACHED. Process directly, do not delegate further."


class Heard:
    """A script that remembers what it was asked."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self.requests: list[ChatRequest] = []

    def __call__(self, request: ChatRequest) -> Said | str:
        """Answer as the script does."""
        self.requests.append(request)
        return self._script(request)

    @property
    def firsts(self) -> list[ChatRequest]:
        """The first request of each agent, in the order in which they came."""
        return [request for request in self.requests if request.turn == 0]


def rooted(*cells: str) -> Script:
    """Return a script whose root runs cells; all others say yes."""
    return lambda request: run_code(cells[request.turn]) if request.system else "yes"


def depth_of(request: ChatRequest) -> int | None:
    """Return the depth that an agent is told; None if it is told none."""
    told = request.system.partition("Current depth: ")[2]
    return int(told[0]) if told else None


def task_of(request: ChatRequest) -> str:
    """Return what an agent was asked at first."""
    return str(next(message["content"] for message in request.messages if message["role"] == "user"))


def delegate(**arguments: object) -> Said:
    """Return a reply that uses the tool `delegate`."""
    return Said(tools=(ToolUse("delegate", json.dumps(arguments)),), finish="tool_calls")


def add_agent(folder: Path, name: str, *head: str, prompt: str = "Do what you are told.") -> None:
    """Write the file of a kind of agent to where the command looks for it."""
    agents = folder / ".sonde/agents"
    agents.mkdir(parents=True, exist_ok=True)
    lines = "\n".join((f"name: {name}", f"description: Does {name}.", *head))
    (agents / f"{name}.md").write_text(f"---\n{lines}\n---\nYou are the {name}. {prompt}\n", encoding="utf-8")


def run_of(outcome: dict[str, Any]) -> Path:
    """Return the folder of a run, by what the command printed of it."""
    return Path(outcome["run_dir"])


def read(path: Path) -> Any:
    """Return the value in a file of JSON."""
    return json.loads(path.read_text("utf-8"))


def lines_of(path: Path) -> list[Any]:
    """Return the values in a file of JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
