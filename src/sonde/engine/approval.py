"""Ask a person before code runs, or before it sends anything: in the terminal, or by stopping until an answer comes."""

import asyncio
from collections.abc import Awaitable, Callable

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


class Approval:
    """Lets pass what a person has approved. `answer` is what was said to the question that the run stopped with."""

    def __init__(self, asks: Approve | None, journal: Journal, person: Person | None, answer: str | None) -> None:
        self._asks = asks
        self._journal = journal
        self._person = person
        self._answer = answer
        self._told: dict[Place, str | None] = {}
        self._one_by_one = asyncio.Lock()

    async def before_cell(self, place: Place, code: str) -> str | None:
        """Return why a cell may not run, if a person says so. Raises `Escalation` if nobody is there to be asked."""
        if self._asks != "eval":
            return None
        async with self._one_by_one:
            return await self._ask(place, "Run this code?", code)

    async def before_dispatch(self, place: Place, asked: Asked) -> str | None:
        """Return why a cell may not send what it asks for, if a person says so. Raises `Escalation` if nobody is
        there."""
        if self._asks != "dispatch":
            return None
        async with self._one_by_one:
            if place in self._told:
                return self._told[place]
            tokens = -(-len(asked.request.encode("utf-8", "surrogatepass")) // _BYTES_PER_TOKEN)
            question = f"Let {place.agent} send {asked.function} calls from here? The first has some {tokens:,} tokens."
            self._told[place] = await self._ask(place, question, asked.request)
            return self._told[place]

    async def _ask(self, place: Place, question: str, subject: str) -> str | None:
        said, self._answer = self._answer, None
        if said is None:
            self._journal.append(Escalated(place.agent, question, self._journal.keep(subject)))
            if self._person is None:
                raise Escalation(f"{question}\n{subject[:_MOST_SHOWN]}", "Say yes or no with `sonde resume --answer`.")
            said = await self._person(question, subject)
            self._journal.append(PersonAnswered(said))
        if said.strip().lower() in _ALWAYS:
            self._asks = None
            return None
        return None if said.strip().lower() in _YES else f"a person did not allow it and said: {said}"
