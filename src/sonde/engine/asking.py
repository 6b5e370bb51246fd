"""Ask a model one plain question: for text, or for a value of a shape."""

from typing import Any

from sonde.engine.context import Context
from sonde.errors import TaskError
from sonde.models.protocol import Message, Model, Request
from sonde.tasks.dispatch import Tally
from sonde.tasks.schemas import Shape, instruction


class Asking:
    """Asks one model, within the limits of the run. What it takes is counted in `tally`."""

    def __init__(self, context: Context, tally: Tally, model: Model, system: str = "") -> None:
        self._dispatcher = context.dispatcher
        self._tally = tally
        self._model = model
        self._before = (Message("system", system),) if system else ()

    async def ask(self, prompt: str, shape: Shape | None) -> Any:
        """Return the answer. Raises `TaskError` for half of one, or one that does not fit the shape, and what
        `Dispatcher.ask` raises."""
        if shape is None:
            return await self._once(Request((*self._before, Message("user", prompt))))
        return await self._typed(prompt, shape)

    async def _typed(self, prompt: str, shape: Shape) -> Any:
        """Return a value of a shape; one that does not fit is sent back once, with what is wrong."""
        asked = (*self._before, Message("user", f"{prompt}\n\n{instruction(shape.schema)}"))
        text = await self._once(Request(asked, schema=shape.schema))
        try:
            return shape.read(text)
        except TaskError as error:
            wrong = Message("user", f"That does not fit: {error}. Answer again, with JSON alone.")
            again = (*asked, Message("assistant", text), wrong)
        reply = await self._dispatcher.ask(self._tally, self._model, Request(again, schema=shape.schema))
        return shape.read(reply.text)

    async def _once(self, request: Request) -> str:
        """Return the text of a reply. Raises `TaskError` for half an answer: code would count it as a whole one."""
        reply = await self._dispatcher.ask(self._tally, self._model, request)
        if reply.finish == "length":
            raise TaskError("model_error", "the reply was cut at its length limit: ask for a shorter one")
        if reply.finish == "filter":
            raise TaskError("model_error", "the reply was withheld by the provider's content filter")
        return reply.text
