"""Workflows that verbs run. Each file is read as text: code for the interpreter, which keeps to what Monty knows."""

from pathlib import Path

_MAIN = "await main()\n"


def code_of(*names: str) -> str:
    """Return one workflow of several files; the last has its `main`."""
    texts = [(Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8") for name in names]
    return "\n\n".join([*texts, _MAIN])
