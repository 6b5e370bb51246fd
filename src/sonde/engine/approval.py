"""Ask a person before code runs, or before it sends anything: in the terminal, or by stopping until an answer comes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from sonde.engine.recorder import Asked, Place
from sonde.errors import Escalation
from sonde.events import Escalated, PersonAnswered
from sonde.journal.writer import Journal
from sonde.spec import Approve

Person = Callable[[str, str], Awaitable[str]]
"""Asks somebody who is there: given a question and what it is about, returns what they say."""

_YES = frozenset({"y", "yes", "ok", "approve", "approved"})
_ALWAYS = frozenset({"all", "always"})
_BYTES_PER_TOKEN = 4
_MOST_SHOWN = 4_000
"""Characters of what is to be sent. Of code that is to run all is shown: who allows it must have seen it."""


class Approval:
    """Lets pass what a person has approved. `said` is what was answered in earlier lives of the run: it holds for what
    was asked, of that very cell, and for nothing else."""

    def __init__(
        self, asks: Approve | None, journal: Journal, person: Person | None, said: Mapping[Escalated, str]
    ) -> None:
        self._asks = asks
        self._journal = journal
        self._person = person
        self._said = said
        self._stopped: Escalation | None = None
        self._told: dict[tuple[Place, str], str | None] = {}
        self._one_by_one = asyncio.Lock()

    async def before_cell(self, place: Place, code: str) -> str | None:
        """Return why a cell may not run, if a person says so. Raises `Escalation` if nobody is there to be asked."""
        if self._asks != "eval":
            return None
        async with self._one_by_one:
            return await self._ask(place, "Run this code?", code, code)

    async def before_dispatch(self, place: Place, asked: Asked) -> str | None:
        """Return why a cell may not send what it asks for, if a person says so. Raises `Escalation` if nobody is
        there."""
        if self._asks != "dispatch":
            return None
        async with self._one_by_one:
            where = place, asked.function
            if where in self._told:
                return self._told[where]
            tokens = -(-len(asked.request.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)
            question = f"Let {place.agent} send {asked.function} calls from here? The first has some {tokens:,} tokens."
            self._told[where] = await self._ask(place, question, asked.request, _beginning(asked.request))
            return self._told[where]

    async def _ask(self, place: Place, question: str, subject: str, shown: str) -> str | None:
        asked = Escalated(place.agent, question, self._journal.keep(subject), place.cell)
        said = self._said.get(asked)
        if said is None:
            if self._stopped is not None:
                raise self._stopped  # by what another agent asked: an answer is to that
            self._journal.append(asked)
            if self._person is None:
                self._stopped = Escalation(f"{question}\n{shown}", "Say yes or no with `sonde resume --answer`.")
                raise self._stopped
            said = await self._person(question, shown)
            self._journal.append(PersonAnswered(said))
        if said.strip().lower() in _ALWAYS:
            self._asks = None
            return None
        return None if said.strip().lower() in _YES else f"a person did not allow it and said: {said}"


def _beginning(text: str) -> str:
    """Return a text as it is shown: of a very long one the beginning, and how much there is more."""
    more = len(text) - _MOST_SHOWN
    return text if more <= 0 else f"{text[:_MOST_SHOWN]}\n[… {more:,} more characters]"
