"""A tree of agents: a root that runs N, each of which runs N, each of which makes N `llm` calls. Prints the answers.

Arguments: N CONCURRENCY RUNS_DIR.
"""

import json
import sys
import time

import sonde
from sonde.models.protocol import Reply, Request
from sonde.testing.scripted import FunctionModel, code

BRANCH = "answers = await gather(*[rlm(f'{below} {{n}}.') for n in range({number})])\nFINAL(sum(answers))"
LEAVES = "answers = await gather(*[llm(f'Leaf {{n}}.') for n in range({number})])\nFINAL(len(answers))"


def model(number: int) -> FunctionModel:
    """Return a model that says at once what the agent of each level is to do."""

    def answer(request: Request) -> Reply | str:
        if request.messages[0].role != "system":
            return "yes"
        question = request.messages[1].text
        if "Leaves" in question:
            return code(LEAVES.format(number=number))
        return code(BRANCH.format(below="Leaves" if "Branch" in question else "Branch", number=number))

    return FunctionModel(answer, remember=False)


if __name__ == "__main__":
    number, at_once, runs = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    began = time.perf_counter()
    result = sonde.ask(
        "Root.", model=model(number), route="rlm", runs_dir=runs, concurrency=at_once, max_calls=2 * number**3
    )
    wall = time.perf_counter() - began
    print(json.dumps({"status": result.status, "answer": result.answer, "error": str(result.error), "s": wall}))
