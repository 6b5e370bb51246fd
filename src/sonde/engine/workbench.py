"""An agent's tools and files. What it writes is a fact of its own, and reaches its parent's files when it ends."""

import asyncio
from collections.abc import Collection
from contextlib import suppress
from typing import Any

from sonde.engine.context import Context
from sonde.errors import TaskError
from sonde.events import Blob, FileWritten, Warned
from sonde.models.protocol import Tool
from sonde.tools.toolbox import Toolbox
from sonde.workspace.overlay import Overlay
from sonde.workspace.protocol import Change, Files


class Workbench:
    """The tools of one agent over its files."""

    def __init__(self, context: Context, path: str, files: Files, allowed: Collection[str] | None = None) -> None:
        self.files = files
        self.allowed = allowed
        """The tools that it may use; None for all that there are."""
        self._context = context
        self._path = path
        self._toolbox = Toolbox(files, allowed, self._note)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools as a model is offered them."""
        return self._toolbox.tools

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return self._toolbox.names

    def for_child(self, path: str, role: str, allowed: Collection[str] | None) -> "Workbench":
        """Return a subagent's: it sees these files, and what it writes stays its own until it has ended."""
        child = Workbench(self._context, path, Overlay(self.files, role), allowed)
        child.restore()
        child._distrust()
        return child

    def restore(self) -> None:
        """Write again what the record tells that the agent wrote in an earlier life."""
        for seq in self._context.history.agent(self._path).written:
            fact = self._context.reader.fact(seq)
            assert isinstance(fact, FileWritten), "its number was kept when it was read"
            content = None if fact.content is None else self._text(fact.content)
            self.files.apply(Change(fact.path, content, fact.source, fact.wanted))

    def _distrust(self) -> None:
        """Note which files others have written since this agent began in an earlier life, so that what it writes does
        not take their place; and where its own were kept."""
        history = self._context.history
        began, parent = history.agent(self._path).began, self._path.rpartition("/")[0]
        while began and parent and isinstance(self.files, Overlay):
            for seq in history.agent(parent).written:
                fact = self._context.reader.fact(seq) if seq > began else None
                if isinstance(fact, FileWritten) and fact.source != self._path:
                    self.files.distrust(fact.path)
                elif isinstance(fact, FileWritten) and fact.wanted:
                    self.files.keep(fact.wanted, fact.path)
            parent = parent.rpartition("/")[0]

    def look(self, path: object) -> None:
        """Note that a file was read in an earlier life, so that what others write there since is not written over."""
        if isinstance(self.files, Overlay) and isinstance(path, str):
            with suppress(TaskError):  # it may be gone by now
                self.files.look(path)

    async def use(self, name: str, arguments: dict[str, Any]) -> Any:
        """Return what a tool gives. Raises `TaskError`."""
        return await self._toolbox.call(name, arguments)

    async def hand_over(self, parent: "Workbench") -> None:
        """Give the parent what this agent wrote; what could not keep its name is said."""
        if not isinstance(self.files, Overlay):
            return
        merge = self.files.merge
        merged = await asyncio.to_thread(merge, self._path) if self.files.on_disk else merge(self._path)
        for change in merged.changes:
            parent._note(change)  # noqa: SLF001 - of its kind
        if merged.left or any(change.wanted for change in merged.changes):
            self._context.journal.append(Warned("workspace", str(merged)))

    def _note(self, change: Change) -> None:
        journal = self._context.journal
        content = None if change.content is None else journal.keep(change.content)
        journal.append(FileWritten(self._path, change.path, content, change.source, change.wanted))

    def _text(self, content: str | Blob) -> str:
        return self._context.reader.text(content)
