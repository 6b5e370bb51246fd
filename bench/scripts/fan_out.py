"""A whole run whose root dispatches N `llm` calls from one cell, C at once, or as many as the server bears if C is 0.

Arguments: URL N C RUNS_DIR.
"""

import sys

import sonde

if __name__ == "__main__":
    url, number, at_once, runs = sys.argv[1:]
    at_most = int(at_once) or None
    result = sonde.ask(
        f"fan out {number}",
        route="rlm",
        model=f"openai:bench@{url}",
        concurrency=at_most,
        runs_dir=runs,
        call_timeout=60,
    )
    assert result.answer == int(number), result
