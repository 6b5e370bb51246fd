"""`refusing.py CALL… -- COMMAND…`: run a command on what seems an older or a locked-down kernel, without some calls."""

import ctypes
import os
import struct
import sys

from sonde.interpreters.confined.child.syscalls import NUMBERS

_LOAD, _JUMP_EQUAL, _RETURN, _ALLOW, _REFUSE = 0x20, 0x15, 0x06, 0x7FFF0000, 0x00050000
_EPERM = 1


def refuse(calls: list[str]) -> None:
    """Have the kernel refuse some system calls to this process and all that it starts."""
    steps = [(_LOAD, 0, 0, 0)]
    for call in calls:
        steps += [(_JUMP_EQUAL, 0, 1, NUMBERS[call]), (_RETURN, 0, 0, _REFUSE | _EPERM)]
    steps.append((_RETURN, 0, 0, _ALLOW))
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    handle = struct.pack("=HxxxxxxQ", len(steps), ctypes.addressof(program))
    library = ctypes.CDLL(None, use_errno=True)
    assert library.prctl(38, 1, 0, 0, 0) == 0
    assert library.syscall(NUMBERS["seccomp"], 1, 0, handle) == 0, os.strerror(ctypes.get_errno())


if __name__ == "__main__":
    end = sys.argv.index("--")
    refuse(sys.argv[1:end])
    os.execv(sys.argv[end + 1], sys.argv[end + 1 :])
