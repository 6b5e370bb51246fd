"""A whole run with a model in this process. Arguments: RUNS_DIR."""

import sys

import sonde
from sonde.testing.scripted import ScriptedModel, code

if __name__ == "__main__":
    model = ScriptedModel(code("print(len(context))"), code("FINAL(6 * 7)"))
    assert sonde.ask("What is six times seven?", model=model, route="rlm", runs_dir=sys.argv[1]).answer == 42
