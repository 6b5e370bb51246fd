"""What all tests share: a command line in a folder of its own, and model servers."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol

import pytest
from hypothesis import settings

from sonde.testing.server import DEFAULTS, Faults, FaultServer, Script, Settings, echo
from tests.cli import Cli

settings.register_profile("sonde", deadline=None, derandomize=True)
settings.load_profile("sonde")


class OpenServer(Protocol):
    """Opens a model server that closes with the test."""

    def __call__(
        self, script: Script = echo, *, settings: Settings = DEFAULTS, faults: Faults | None = None
    ) -> FaultServer:
        """Open one."""
        ...


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The `sonde` command in an empty folder with an empty environment."""
    return Cli(tmp_path)


@pytest.fixture
def serve() -> Iterator[OpenServer]:
    """Open model servers that close with the test."""
    with ExitStack() as stack:

        def open_server(
            script: Script = echo, *, settings: Settings = DEFAULTS, faults: Faults | None = None
        ) -> FaultServer:
            return stack.enter_context(FaultServer(script, settings=settings, faults=faults))

        yield open_server
