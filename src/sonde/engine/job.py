"""What one agent is to do, and with what: all that tells one agent from another."""

from dataclasses import dataclass
from typing import Literal

from sonde.documents.attach import Inputs
from sonde.engine.workbench import Workbench
from sonde.interpreters.protocol import GuestWorld
from sonde.spec import Subagent
from sonde.tasks.schemas import Shape

Prompts = dict[Literal["native", "fenced"], str]


@dataclass(slots=True, frozen=True)
class Job:
    """An agent's work. Its `path` holds its ancestors' paths."""

    path: str
    role: Subagent | None
    """What kind of agent it is; None for one that answers a question over inputs."""
    model: str
    prompts: Prompts
    first: str
    depth: int = 0
    call: int = 0
    """The call that asked for it."""
    inherited: str | None = None
    """The model that was named for it or for one above it, and so for all below."""
    shape: Shape | None = None
    world: GuestWorld | None = None
    """What its code finds; None if it runs none."""
    inputs: Inputs | None = None
    workbench: Workbench | None = None
    """Its tools and files; None if it has none."""
    sends: tuple[str, ...] | None = None
    """The kinds of agents that it may send; None for all."""
    uses_tools: bool = False
    """Whether the model itself is offered the tools; code is in any case."""
    code: str = ""
    """A saved workflow: code that takes the place of a model."""

    @property
    def kind(self) -> str:
        """The word for what it is."""
        if self.code:
            return "workflow"
        return "root" if self.depth == 0 and self.role is None else "rlm" if self.role is None else self.role.name
