"""A whole run whose root dispatches N `llm` calls from one cell, C at once. Arguments: URL N C RUNS_DIR."""

import sys

import sonde

if __name__ == "__main__":
    url, number, at_once, runs = sys.argv[1:]
    result = sonde.ask(
        f"fan out {number}", model=f"openai:bench@{url}", concurrency=int(at_once), runs_dir=runs, call_timeout=60
    )
    assert result.answer == int(number), result
