"""What all agents of a run share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sonde.engine.cache import Cache
from sonde.engine.history import History
from sonde.engine.recorder import Recorder
from sonde.errors import ModelChoiceError
from sonde.interpreters.protocol import Backend, GuestWorld
from sonde.journal.reader import Reader
from sonde.journal.writer import Journal
from sonde.models.protocol import Model
from sonde.spec import ModelChoice, RunSpec
from sonde.tasks.dispatch import Dispatcher


class Models:
    """The models of a run by the names a user writes; each is made once, when it is first needed."""

    def __init__(self, choice: ModelChoice, given: Mapping[str, Model], make: Callable[[str, str | None], Model]):
        self._choice = choice
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

    def named(self, name: str) -> Model:
        """Return a model by its name. Raises `ModelChoiceError` for one that the user did not name: code that nobody
        has read must not choose where data and keys are sent."""
        made = self._made.get(name)
        if made is not None:
            return made
        if name not in self._choice.all:
            known = ", ".join(sorted(self._choice.all))
            raise ModelChoiceError(f"code may not ask {name!r}; known: {known}", "Allow it with --also-model.")
        self._made[name] = made = self._make(name, self._choice.key_env_of(name))
        return made

    async def close(self) -> None:
        """Close all that were made."""
        for model in self._made.values():
            await model.close()


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
