"""Take away from this process all that a cell of code has no business with. It cannot be undone.

What is left, in order of weight: a seccomp filter that knows no call which takes a path, opens a socket, starts a
process or a thread, or maps memory that is shared or can be executed; no privileges, and no way to gain any; limits on
memory, files and descriptors; Landlock without a single rule; and namespaces of its own where the system grants them.
"""

import ctypes
import errno
import os
import platform
import resource
import struct
from pathlib import Path

from .syscalls import ALLOWED, ARCHITECTURES, ENOSYS, MEMORY, NUMBERS

DESCRIPTORS = 256
_LAST_WORDS = 65_536  # what a dying interpreter may write to its standard error

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x20080522
_CLONE_NEW = 0x10000000 | 0x00020000 | 0x08000000 | 0x04000000  # user, mount, ipc, uts
_LANDLOCK_VERSION = 1
_LANDLOCK_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # file system rights known to each version

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _JUMP_SET, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_PROT_NONE, _PROT_WRITE, _PROT_EXEC = 0, 2, 4
_MAP_SHARED, _MAP_GROWSDOWN, _MAP_HUGETLB = 1, 0x100, 0x40000
_MREMAP_MAYMOVE = 1
_MADV_DONTNEED, _MADV_FREE = 4, 8
_STACK_BYTES = 8 * 1024 * 1024
_X32 = 0x40000000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def die_with_parent() -> None:
    """Have the kernel kill this process when its parent is gone, even in the middle of a cell."""
    _prctl(_PR_SET_PDEATHSIG, 9)


def confine(heap_bytes: int) -> list[str]:
    """Confine this process and return the layers that hold. Raises `OSError` if an essential one cannot be had."""
    layers = ["limits", "privileges", "seccomp"]
    _limit(heap_bytes)
    _prctl(_PR_SET_DUMPABLE, 0)
    if _enter_namespaces():
        layers.append("namespaces")
    _drop_privileges()
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if _lock_file_system():
        layers.append("landlock")
    _filter_system_calls()
    return layers


def stat_size_and_time(descriptor: int) -> tuple[int, int]:
    """Return a file's size and time of change in nanoseconds, without the path-taking call that os.fstat makes."""
    _syscall("fstat", descriptor, _STAT)
    size, seconds, nanoseconds = struct.unpack_from("=q32xqq", _STAT.raw, 48)
    return size, seconds * 1_000_000_000 + nanoseconds


def landlock_version() -> int:
    """Return the version of Landlock that the kernel has, 0 if none."""
    version: int = _libc.syscall(NUMBERS["landlock_create_ruleset"], None, 0, _LANDLOCK_VERSION)
    return max(0, version)


def _limit(heap_bytes: int) -> None:
    """Limit memory, by what is private and written to; and address space, of which it has what it needs already: so no
    memory can be made of a kind that is not counted."""
    used = dict(line.split()[:2] for line in Path("/proc/self/status").read_text("ascii").splitlines() if " kB" in line)
    for limit, value in (
        (resource.RLIMIT_DATA, int(used["VmData:"]) * 1024 + heap_bytes),
        (resource.RLIMIT_AS, int(used["VmSize:"]) * 1024 + heap_bytes + _STACK_BYTES),
        (resource.RLIMIT_STACK, _STACK_BYTES),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, _LAST_WORDS),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_NOFILE, DESCRIPTORS),
    ):
        hard = resource.getrlimit(limit)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (value, value))


def _enter_namespaces() -> bool:
    """Leave the host's users, mounts, network and names behind, where that is allowed."""
    try:
        _syscall("unshare", _CLONE_NEW)
    except OSError:
        return False
    return True


def _drop_privileges() -> None:
    _prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL)
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    _syscall("capset", header, bytes(24))


def _lock_file_system() -> bool:
    """Forbid all of the file system, and TCP, with a Landlock ruleset that has no rule."""
    version = landlock_version()
    if version == 0:
        return False
    rights = (1 << _LANDLOCK_RIGHTS[min(version, 5)]) - 1
    network = 3 if version >= 4 else 0
    scoped = 3 if version >= 6 else 0
    attributes = struct.pack("=QQQ", rights, network, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    ruleset = _syscall("landlock_create_ruleset", attributes, size, 0)
    _syscall("landlock_restrict_self", ruleset, 0)
    os.close(ruleset)
    return True


def _filter_system_calls() -> None:
    program = ctypes.create_string_buffer(b"".join(_program()))
    handle = struct.pack("=HxxxxxxQ", len(program) // 8, ctypes.addressof(program))
    _syscall("seccomp", 1, 0, handle)


def _program() -> list[bytes]:
    """Return the filter: what is not named is refused with EPERM, so that Python raises PermissionError."""
    machine = platform.machine()
    program = [
        _step(_LOAD, 4),
        _step(_JUMP_EQUAL, ARCHITECTURES[machine], 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, 0),
    ]
    if machine == "x86_64":
        program += [_step(_JUMP_AT_LEAST, _X32, 0, 1), _step(_RETURN, _KILL)]
    for name in ALLOWED:
        program += [_step(_JUMP_EQUAL, NUMBERS[name], 0, 1), _step(_RETURN, _ALLOW)]
    for name in ENOSYS:
        program += [_step(_JUMP_EQUAL, NUMBERS[name], 0, 1), _step(_RETURN, _REFUSE | errno.ENOSYS)]
    for name in MEMORY:
        checks = _memory_checks(name)
        program += [_step(_JUMP_EQUAL, NUMBERS[name], 0, len(checks)), *checks]
    return [*program, _step(_RETURN, _REFUSE | errno.EPERM)]


def _memory_checks(name: str) -> list[bytes]:
    """Allow memory that the limit on data counts: what can be written is, and what cannot be touched need not be. A
    stack, a page made read-only, or the tables of maps that are only read, or lie far apart, would go uncounted. Advice
    is taken to give memory back; other advice can keep the kernel busy for long."""
    refuse, allow = _step(_RETURN, _REFUSE | errno.EACCES), _step(_RETURN, _ALLOW)
    if name == "madvise":
        given_back = [_step(_JUMP_EQUAL, _MADV_DONTNEED, 2, 0), _step(_JUMP_EQUAL, _MADV_FREE, 1, 0)]
        return [_argument(2), *given_back, refuse, allow]
    if name == "mremap":
        return [_argument(3), _step(_JUMP_SET, 0xFFFFFFFF & ~_MREMAP_MAYMOVE, 0, 1), refuse, allow]
    checks = [_argument(2), _step(_JUMP_SET, _PROT_EXEC, 0, 1), refuse]
    if name == "mprotect":
        return [*checks, _step(_JUMP_SET, _PROT_WRITE, 1, 0), refuse, allow]
    checks += [_step(_JUMP_EQUAL, _PROT_NONE, 2, 0), _step(_JUMP_SET, _PROT_WRITE, 1, 0), refuse]
    checks += [_argument(3), _step(_JUMP_SET, _MAP_SHARED | _MAP_GROWSDOWN | _MAP_HUGETLB, 0, 1), refuse]
    for half in (0, 4):  # no address is asked for
        checks += [_argument(0, half), _step(_JUMP_EQUAL, 0, 1, 0), refuse]
    return [*checks, allow]


def _argument(number: int, half: int = 0) -> bytes:
    """Load half of an argument, usually the lower one."""
    return _step(_LOAD, 16 + 8 * number + half)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _prctl(option: int, value: int) -> None:
    if _libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")


def _syscall(name: str, *arguments: object) -> int:
    result: int = _libc.syscall(NUMBERS[name], *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


_STAT = ctypes.create_string_buffer(256)
