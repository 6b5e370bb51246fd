# pyright: basic, reportMissingImports=false
"""pydantic-ai-harness, DynamicWorkflow: N subagents from one script, with instant models. Prints what each took.

Arguments: N TIMES. One script can wait for 999 at the most.
"""

import asyncio
import json
import sys

from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import UsageLimits
from pydantic_ai_harness.dynamic_workflow import DynamicWorkflow

from bench.cost import of_each

CODE = """
import asyncio
answers = await asyncio.gather(*[worker(task=f"Is item {{n}} about sport?") for n in range({number})])
len([answer for answer in answers if answer == "yes"])
"""
MOST = 999


def work(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Say yes."""
    return ModelResponse([TextPart("yes")])


def orchestrate(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Run the code that the question holds, and then give what it came to."""
    last = messages[-1].parts[-1]
    if last.part_kind == "tool-return":
        return ModelResponse([TextPart(json.dumps(last.content))])
    assert last.part_kind == "user-prompt", last
    return ModelResponse([ToolCallPart("run_workflow", {"code": last.content})])


def main(number: int, times: int) -> None:
    """Measure, with the limits raised so that it can finish, and else as it is by default."""
    endless = UsageLimits(request_limit=None)
    worker = Agent(FunctionModel(work), name="worker", description="Answers.", system_prompt="Answer.")
    flow = DynamicWorkflow(agents=[worker], max_agent_calls=number + 1, sub_agent_usage_limits=endless)
    agent = Agent(FunctionModel(orchestrate), capabilities=[flow])

    async def ask(tasks: int) -> None:
        ended = await agent.run(CODE.format(number=tasks), usage_limits=endless)
        assert str(tasks) in ended.output, ended.output

    with asyncio.Runner() as runner:
        each = of_each(lambda tasks: runner.run(ask(tasks)), number, times)
    print(json.dumps({**each._asdict(), "cpu_ms": each.cpu_ms, "tasks": number}), flush=True)


if __name__ == "__main__":
    main(min(int(sys.argv[1]), MOST), int(sys.argv[2]))
