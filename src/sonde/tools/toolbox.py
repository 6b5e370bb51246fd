"""The tools of one agent: which it may use, and their calls."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from types import MappingProxyType
from typing import Any

from sonde.errors import SondeError, TaskError
from sonde.models.protocol import Tool
from sonde.tools import work
from sonde.tools.arguments import KINDS, NAMES, TOOLS, Arguments, Todo, WriteTodos, read
from sonde.tools.own import OwnTool
from sonde.workspace.protocol import Change, Files
from sonde.workspace.stopping import in_thread

__all__ = ["NAMES", "Todo", "Toolbox"]

_NO_OWN: Mapping[str, OwnTool] = MappingProxyType({})


class Toolbox:
    """What one agent may call. `allowed` names its tools; all if it is None. `changed` hears of each file that is
    written, in the event loop's thread and before the call returns. `todos` is the agent's list."""

    __slots__ = ("_allowed", "_changed", "_own", "files", "todos")

    def __init__(
        self,
        files: Files,
        allowed: Collection[str] | None = None,
        changed: Callable[[Change], None] | None = None,
        own: Mapping[str, OwnTool] = _NO_OWN,
    ) -> None:
        self.files = files
        self.todos: tuple[Todo, ...] = ()
        self._allowed = allowed
        self._changed = changed
        self._own = own

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tools that may be called."""
        everything = (*NAMES, *(name for name in self._own if name not in TOOLS)) if self._own else NAMES
        return everything if self._allowed is None else tuple(name for name in everything if name in self._allowed)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools to offer to a model."""
        return tuple(self._own[name].tool if name in self._own else TOOLS[name] for name in self.names)

    async def call(self, name: str, arguments: dict[str, Any]) -> Any:
        """Return what a tool gives: `ls` and `glob` a list of paths, all others of ours text.

        Raises `TaskError` for a tool that is not there, arguments that do not fit, and whatever the tool raised.
        """
        if name not in self.names:
            known = ", ".join(self.names) or "none"
            raise TaskError("tool_error", f"there is no tool {str(name)[:100]!r} here. Known: {known}.")
        try:
            if name in self._own:
                return await self._own[name].call(arguments)
            return await self._do(name, read(TOOLS[name], KINDS[name], arguments))
        except SondeError:
            raise
        except Exception as error:
            raise TaskError("tool_error", _told(name, error)) from error

    async def _do(self, name: str, asked: Arguments) -> Any:
        if isinstance(asked, WriteTodos):
            self.todos = tuple(asked.todos)
            return work.told_todos(self.todos)
        if name in work.CHANGES:
            return await self._change(lambda: work.CHANGES[name](self.files, asked))
        if self.files.on_disk or name == "grep":  # in memory, too, there may be much to look through
            return await in_thread(work.LOOKS[name], self.files, asked)
        return work.LOOKS[name](self.files, asked)

    async def _change(self, change: Callable[[], Change]) -> str:
        if not self.files.on_disk:
            return self._note(change())
        writing = asyncio.ensure_future(asyncio.to_thread(change))
        try:
            done = await asyncio.shield(writing)
        except asyncio.CancelledError:
            # The thread writes on: what it did must be known all the same.
            writing.add_done_callback(self._note_late)
            raise
        return self._note(done)

    def _note(self, change: Change) -> str:
        if self._changed is not None:
            self._changed(change)
        return f"{change.path} holds {len(change.content or ''):,} characters now"

    def _note_late(self, writing: asyncio.Future[Change]) -> None:
        if not writing.cancelled() and writing.exception() is None:
            self._note(writing.result())


def _told(name: str, error: Exception) -> str:
    """Return an error as text that is never empty."""
    what = str(error).strip()
    return f"{name}: {type(error).__name__}{f': {what}' if what else ', without a message'}"
