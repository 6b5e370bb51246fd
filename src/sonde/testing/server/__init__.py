"""An OpenAI-compatible model server on loopback that says what a script says, and fails as it is told to.

Use `FaultServer` inside a test, or `python -m sonde.testing.server` beside one.
"""

from sonde.testing.server.faults import FAULTS, Faults, Latency
from sonde.testing.server.script import ChatRequest, Said, Script, call_tool, echo, run_code
from sonde.testing.server.serve import Entry, FaultServer, Settings

__all__ = [
    "FAULTS",
    "ChatRequest",
    "Entry",
    "FaultServer",
    "Faults",
    "Latency",
    "Said",
    "Script",
    "Settings",
    "call_tool",
    "echo",
    "run_code",
]
