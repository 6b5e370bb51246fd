"""`python -m tests.escape`: let those loose that reach for something; print how many, and fail if one gets it."""

import sys

from tests.escape.arena import Arena, programs

arena = Arena("python")
reaching = [each for each in programs("python") if each.path.stem.startswith(("reach_", "process_"))]
got_out: list[str] = []
for each in reaching:
    outcome = arena.face(each)
    if "ESCAPED" in outcome.shown or outcome.next_value != arena.expected:
        got_out.append(f"{each.path.stem}: {outcome}")
arena.close()
print(len(reaching))
sys.exit("\n".join(got_out) or 0)
