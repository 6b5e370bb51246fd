"""Sonde: answer questions over inputs far larger than a model's window.

Names are loaded when they are first used, so that importing the package is cheap.
"""

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any

from sonde.version import __version__

if TYPE_CHECKING:
    from sonde.api import aask, ask
    from sonde.engine.result import Result
    from sonde.errors import (
        InputChanged,
        InputError,
        JournalError,
        LimitReached,
        ModelChoiceError,
        ModelError,
        RunError,
        SondeError,
        UsageError,
    )

_HOME = {
    "aask": "sonde.api",
    "ask": "sonde.api",
    "Result": "sonde.engine.result",
    "InputChanged": "sonde.errors",
    "InputError": "sonde.errors",
    "JournalError": "sonde.errors",
    "LimitReached": "sonde.errors",
    "ModelChoiceError": "sonde.errors",
    "ModelError": "sonde.errors",
    "RunError": "sonde.errors",
    "SondeError": "sonde.errors",
    "UsageError": "sonde.errors",
}

__all__ = [
    "InputChanged",
    "InputError",
    "JournalError",
    "LimitReached",
    "ModelChoiceError",
    "ModelError",
    "Result",
    "RunError",
    "SondeError",
    "UsageError",
    "__version__",
    "aask",
    "ask",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'sonde' has no attribute {name!r}")
    collects = gc.isenabled()
    gc.disable()  # what is loaded is no garbage, and looking for some takes a tenth of the time
    try:
        return getattr(import_module(_HOME[name]), name)
    finally:
        if collects:
            gc.enable()


def __dir__() -> list[str]:
    return __all__
