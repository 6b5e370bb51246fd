"""Scripts for the fault server that play a root agent and those below it."""

from sonde.testing.server import ChatRequest, Said, Script, run_code
from tests.cli import Cli
from tests.heard import Heard, add_agent, depth_of

END = "This is the end."


def is_root(request: ChatRequest) -> bool:
    """Whether the root agent asks, of a question or in a folder."""
    return depth_of(request) == 0


def led_by(cells: list[str], sub: Script) -> Script:
    """Return a script: the root runs these cells and ends, and all others answer with `sub`."""

    def reply(request: ChatRequest) -> Said | str:
        if not is_root(request):
            return sub(request)
        return run_code(cells[request.turn]) if request.turn < len(cells) else END

    return reply


def shown(heard: Heard) -> list[str]:
    """Return what the root was shown of each cell, and of what else it did, before each turn but the first."""
    return [request.prompt for request in heard.requests if is_root(request) and request.turn > 0]


def below(heard: Heard) -> list[ChatRequest]:
    """Return what subagents and plain calls asked."""
    return [request for request in heard.requests if not is_root(request)]


def role_of(request: ChatRequest) -> str:
    """Return the name of the agent that asks, if it is one that `add_agents` made."""
    head, _, rest = request.system.partition("You are the ")
    return "" if head else rest.partition(".")[0]


def add_agents(cli: Cli, *names: str) -> None:
    """Write the files of agents that know their names."""
    for name in names:
        add_agent(cli.folder, name)
