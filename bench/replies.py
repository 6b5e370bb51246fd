"""What the model server says: the root fans out as its question asks, every other call is answered at once."""

import re

from sonde.testing.server import ChatRequest, Said, run_code


def reply(request: ChatRequest) -> Said | str:
    """Return the reply to one request."""
    if not request.system:
        return "yes"
    if request.turn:
        return run_code("FINAL(len(answers))")
    asked = re.search(r"fan out (\d+)", request.messages[1]["content"])
    number = int(asked[1]) if asked else 0
    prompt = "f'Is item {n} about sport? ' + 'x' * 200"
    return run_code(f"answers = await gather(*[llm({prompt}) for n in range({number})])")
