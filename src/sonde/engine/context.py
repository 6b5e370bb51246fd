"""What all agents of a run share."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sonde.engine.approval import Approval
from sonde.engine.cache import Cache
from sonde.engine.history import History
from sonde.engine.recorder import Recorder
from sonde.errors import ModelChoiceError
from sonde.interpreters.protocol import Backend, GuestWorld
from sonde.journal.reader import Reader
from sonde.journal.writer import Journal
from sonde.models.protocol import Model
from sonde.spec import RunSpec, Subagent
from sonde.tasks.dispatch import Dispatcher
from sonde.tasks.runner import Errand, Runner


class Models:
    """The models of a run by the names a user writes; each is made once, when it is first needed."""

    def __init__(self, spec: RunSpec, given: Mapping[str, Model], make: Callable[[str, str | None], Model]):
        self._choice = spec.models
        self._named = spec.named_models
        self._key_env_of = spec.key_env_of
        self._make = make
        self._made = dict(given)

    @property
    def root(self) -> Model:
        """The root's model. Raises `ModelChoiceError`."""
        return self.named(self._choice.root)

    @property
    def sub(self) -> Model:
        """The subagents' model; the root's if no other was chosen. Raises `ModelChoiceError`."""
        return self.named(self._choice.sub or self._choice.root)

    def for_call(self, name: str | None, inherited: str | None) -> Model:
        """Return the model for a call: the one it names, else the one its agent was given, else the subagents'. Raises
        `ModelChoiceError`."""
        wanted = name or inherited
        return self.sub if wanted is None else self.named(wanted)

    def named(self, name: str) -> Model:
        """Return a model by its name. Raises `ModelChoiceError` for one that the user did not name: code that nobody
        has read must not choose where data and keys are sent."""
        made = self._made.get(name)
        if made is not None:
            return made
        if name not in self._named:
            known = ", ".join(sorted(self._named))
            raise ModelChoiceError(f"code may not ask {name!r}; known: {known}", "Allow it with --also-model.")
        self._made[name] = made = self._make(name, self._key_env_of(name))
        return made

    async def close(self) -> None:
        """Close all that were made."""
        for model in self._made.values():
            await model.close()


class _Nobody:
    async def run(self, errand: Errand) -> Any:
        """Have nobody work."""
        raise AssertionError(f"nobody runs {errand.path} yet")


_NOBODY = _Nobody()


@dataclass(slots=True)
class Context:
    """The parts that a run was wired from."""

    spec: RunSpec
    journal: Journal
    reader: Reader
    history: History
    cache: Cache
    recorder: Recorder
    dispatcher: Dispatcher
    models: Models
    world: GuestWorld
    backend: Backend
    clock: Callable[[], float]
    folder: Path
    """Where the run is kept."""
    approval: Approval
    roles: Mapping[str, Subagent]
    """The kinds of subagents, by name."""
    berths: Sequence[asyncio.Semaphore]
    """Places for interpreters, by depth: who waits for deeper agents never keeps them from a place."""
    workflows: Callable[[str], str | None]
    """Gives the code of a saved workflow by its name."""
    runner: Runner = _NOBODY
    """Who has subagents work; set once all is wired."""

    @property
    def offers_delegation(self) -> bool:
        """Whether models are offered tools that send subagents, beside the words for code."""
        return self.spec.mode == "agent"
