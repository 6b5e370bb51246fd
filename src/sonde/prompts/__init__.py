"""The text that models read, kept in files beside this one."""

from functools import cache
from pathlib import Path
from string import Template

import msgspec

_FOLDER = Path(__file__).parent


def read(name: str, **values: str) -> str:
    """Return the prompt `name`, with its `$placeholders` filled in."""
    return Template(_text(f"{name}.md")).substitute(values).strip()


def for_family(model: str) -> str:
    """Return what models of this one's family are told besides; usually nothing."""
    families = msgspec.json.decode(_text("families.json"))
    notes = (each["note"] for each in families if any(name in model.lower() for name in each["names"]))
    return next(notes, "").strip()


@cache
def _text(name: str) -> str:
    """Return a file's text, the same for as long as this process lives."""
    return (_FOLDER / name).read_text(encoding="utf-8")
