"""A run whose root sends N subagents from one cell, with an instant model in this process. Prints what each took.

Arguments: N TIMES RUNS_DIR [schema]. Run it as a module.
"""

import json
import sys

from bench.cost import of_each

import sonde
from sonde.models.protocol import Reply, Request
from sonde.testing.scripted import FunctionModel, code

CELL = """
answers = await gather(*[task(f"Is item {{n}} about sport?"{more}) for n in range({number})])
FINAL(answers.count({good}))
"""
SHAPE = {"type": "object", "properties": {"sport": {"type": "boolean"}}, "required": ["sport"]}


def cell(number: int, *, typed: bool) -> str:
    """Return the code that sends them and counts the good answers."""
    more, good = (f", response_schema={SHAPE!r}", {"sport": True}) if typed else ("", "yes")
    return CELL.format(number=number, more=more, good=repr(good))


def model(number: int, *, typed: bool) -> FunctionModel:
    """Return a model that is the root in its first turn, and then every subagent."""
    root = iter([code(cell(number, typed=typed))])
    answer = '{"sport": true}' if typed else "yes"

    def reply(request: Request) -> Reply | str:
        assert len(request.messages) == 2, f"the cell did not end well: {request.messages[-1].text}"
        return next(root, answer)

    return FunctionModel(reply, remember=False)


def main(number: int, times: int, runs: str, *, typed: bool) -> None:
    """Measure, with all else as it is by default."""

    def ask(tasks: int) -> None:
        result = sonde.ask("Go.", model=model(tasks, typed=typed), route="rlm", runs_dir=runs)
        assert (result.status, result.answer) == ("completed", tasks), result

    each = of_each(ask, number, times)
    print(json.dumps({**each._asdict(), "cpu_ms": each.cpu_ms, "tasks": number}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], typed="schema" in sys.argv)
