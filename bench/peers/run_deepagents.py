# pyright: basic, reportMissingImports=false
"""deepagents with langchain-quickjs: N subagents from one script, with instant models. Prints what each took.

Arguments: N TIMES.
"""

import asyncio
import json
import sys

from deepagents import create_deep_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_quickjs import CodeInterpreterMiddleware

from bench.cost import of_each

CODE = """
const answers = await Promise.all(Array.from({{ length: {number} }}, (_, n) =>
  task({{ description: `Is item ${{n}} about sport?`, subagentType: "worker" }})));
answers.filter((answer) => answer === "yes").length
"""


class Worker(BaseChatModel):
    """Says yes."""

    @property
    def _llm_type(self) -> str:
        return "instant"

    def bind_tools(self, tools, **kwargs):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.reply(messages))])

    async def _agenerate(self, messages, stop=None, run_manager=None, **kwargs) -> ChatResult:
        return self._generate(messages)

    def reply(self, messages: list[BaseMessage]) -> AIMessage:
        return AIMessage("yes")


class Root(Worker):
    """Runs the code that the question holds, and then ends."""

    def reply(self, messages: list[BaseMessage]) -> AIMessage:
        if isinstance(messages[-1], ToolMessage):
            return AIMessage("done")
        call = {"name": "eval", "args": {"code": messages[-1].content}, "id": "1", "type": "tool_call"}
        return AIMessage("", tool_calls=[call])


def main(number: int, times: int) -> None:
    """Measure, with the time limit raised so that it can finish, and else as it is by default."""
    worker = {"name": "worker", "description": "Answers.", "system_prompt": "Answer.", "model": Worker()}
    agent = create_deep_agent(model=Root(), subagents=[worker], middleware=[CodeInterpreterMiddleware(timeout=600)])

    async def ask(tasks: int) -> None:
        ended = await agent.ainvoke({"messages": [{"role": "user", "content": CODE.format(number=tasks)}]})
        told = next(each.content for each in ended["messages"] if isinstance(each, ToolMessage))
        assert f">{tasks}<" in told, told

    with asyncio.Runner() as runner:
        each = of_each(lambda tasks: runner.run(ask(tasks)), number, times)
    print(json.dumps({**each._asdict(), "cpu_ms": each.cpu_ms, "tasks": number}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
