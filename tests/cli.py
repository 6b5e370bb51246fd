"""Use `sonde` as a user does: as a command, from outside."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

_PASSED_ON = ("PATH", "LANG", "LC_ALL", "SYSTEMROOT", "COVERAGE_PROCESS_START")


class Outcome(NamedTuple):
    """What a command came to."""

    code: int
    stdout: bytes
    stderr: str

    @property
    def text(self) -> str:
        """Its standard output as text."""
        return self.stdout.decode()

    @property
    def json(self) -> dict[str, Any]:
        """The one object on its standard output."""
        lines = self.stdout.decode().splitlines()
        assert len(lines) == 1, f"one line of JSON was expected: {lines}; {self.stderr}"
        return json.loads(lines[0])

    @property
    def error(self) -> str:
        """The one line that says what went wrong. Fails if there is a traceback, or no such line."""
        assert "Traceback" not in self.stderr, self.stderr
        lines = [line for line in self.stderr.splitlines() if re.match(r"sonde: |Error: ", line)]
        assert len(lines) == 1, self.stderr
        return lines[0]


class Cli:
    """Runs `sonde` in one folder."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        self.folder = folder
        self.python = python
        self.environment = {"SONDE_ROUTE": "rlm"}  # most inputs here are small, and most tests about code
        self.launcher: list[str] = []
        """A command that is put before each."""

    def __call__(self, *arguments: str | Path, stdin: bytes = b"", timeout: float = 60) -> Outcome:
        """Run a command to its end."""
        process = self.start(*arguments, stdin=subprocess.PIPE)
        try:
            stdout, stderr = process.communicate(stdin, timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise AssertionError(f"{arguments} ran for more than {timeout} s: {process.communicate()}") from None
        return Outcome(process.returncode, stdout, stderr.decode(errors="replace"))

    def start(self, *arguments: str | Path, stdin: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        """Start a command in a process group of its own."""
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        return subprocess.Popen(
            [*self.launcher, self.python, "-m", "sonde", *map(str, arguments)],
            cwd=self.folder,
            env={"HOME": str(self.folder), **environment, **self.environment},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def ask(self, server_url: str, question: str, *arguments: str | Path, **named: Any) -> Outcome:
        """Run `sonde ask` against a server, with one JSON object as its output."""
        model = f"openai:test@{server_url}"
        return self("ask", question, *arguments, "--model", model, "--json", "--quiet", **named)
