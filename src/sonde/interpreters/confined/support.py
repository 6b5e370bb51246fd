"""Whether this machine can confine a process; asked of the kernel, without confining anything."""

import ctypes
import os
import platform
import sys

from sonde.interpreters.confined.child.syscalls import ARCHITECTURES, NUMBERS

LAYERS = ("limits", "privileges", "seccomp", "namespaces", "landlock")
"""What confines a process where the kernel grants it all; the first three are essential."""

_GET_ACTION_AVAILABLE = 2
_REFUSE_WITH_ERROR = 0x00050000
_PR_GET_NO_NEW_PRIVS = 39


def runs_here() -> bool:
    """Whether interpreters can be forked here at all, confined or not."""
    return sys.platform == "linux" and platform.machine() in ARCHITECTURES


def lacking() -> str | None:
    """Return what is missing of that without which no cell is run confined; None if nothing is."""
    if not runs_here():
        return f"{platform.system()} on {platform.machine()} is not supported, only Linux on {', '.join(ARCHITECTURES)}"
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) < 0:
        return f"the kernel has no no_new_privs ({os.strerror(ctypes.get_errno())})"
    action = ctypes.c_uint32(_REFUSE_WITH_ERROR)
    if library.syscall(NUMBERS["seccomp"], _GET_ACTION_AVAILABLE, 0, ctypes.byref(action)) < 0:
        return f"the kernel filters no system calls ({os.strerror(ctypes.get_errno())})"
    return None
