"""Become an ordinary user, where the tests run as root."""

import os
import sys
from pathlib import Path

import pytest

AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def python_for_everybody() -> str | None:
    """Return a Python of this version that an ordinary user may run, if there is one."""
    for candidate in (sys.executable, f"/usr/bin/python3.{sys.version_info.minor}"):
        folders = Path(candidate).resolve().parents
        if Path(candidate).exists() and all(folder.stat().st_mode & 0o001 for folder in folders):
            return candidate
    return None


as_an_ordinary_user = pytest.mark.skipif(
    os.geteuid() != 0 or python_for_everybody() is None,
    reason="not root, who alone can become somebody else; or there is no Python that others may run",
)
