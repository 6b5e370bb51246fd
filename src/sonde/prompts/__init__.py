"""The text that models read, kept in files beside this one."""

from pathlib import Path
from string import Template

_FOLDER = Path(__file__).parent


def read(name: str, **values: str) -> str:
    """Return the prompt `name`, with its `$placeholders` filled in."""
    return Template((_FOLDER / f"{name}.md").read_text(encoding="utf-8")).substitute(values).strip()
