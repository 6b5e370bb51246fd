"""An OpenAI-compatible model server on loopback that says what a script says, and fails as it is told to.

Use `FaultServer` inside a test, or `python -m sonde.testing.server` beside one.
"""

from sonde.testing.server.faults import FAULTS, Fault, Faults, Latency
from sonde.testing.server.script import ChatRequest, Said, Script, ToolUse, call_tool, echo, run_code
from sonde.testing.server.serve import DEFAULTS, Entry, FaultServer, Settings, digest_of, most_at_once, read_log

__all__ = [
    "DEFAULTS",
    "FAULTS",
    "ChatRequest",
    "Entry",
    "Fault",
    "FaultServer",
    "Faults",
    "Latency",
    "Said",
    "Script",
    "Settings",
    "ToolUse",
    "call_tool",
    "digest_of",
    "echo",
    "most_at_once",
    "read_log",
    "run_code",
]
