"""System calls by name: their numbers on each machine, and which of them a cell may make.

A call belongs in `ALLOWED` if code could not run without it and no path, address, other process or new privilege can be
reached by it. The most frequent come first, as the filter looks in this order.
"""

import platform

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_BOTH: dict[str, tuple[int, int]] = {
    "recvfrom": (45, 207),
    "sendto": (44, 206),
    "futex": (202, 98),
    "pread64": (17, 67),
    "fstat": (5, 80),
    "recvmsg": (47, 212),
    "read": (0, 63),
    "write": (1, 64),
    "lseek": (8, 62),
    "close": (3, 57),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "brk": (12, 214),
    "setitimer": (38, 103),
    "getitimer": (36, 102),
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "restart_syscall": (219, 128),
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "getrusage": (98, 165),
    "times": (100, 153),
    "sched_yield": (24, 124),
    "sched_getaffinity": (204, 123),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "getrandom": (318, 278),
    "rseq": (334, 293),
    "set_robust_list": (273, 99),
    "exit": (60, 93),
    "exit_group": (231, 94),
    "mmap": (9, 222),
    "mprotect": (10, 226),
    "clone3": (435, 435),
    "unshare": (272, 97),
    "capset": (126, 91),
    "seccomp": (317, 277),
    "landlock_create_ruleset": (444, 444),
    "landlock_restrict_self": (446, 446),
}

_COLUMN = {"x86_64": 0, "aarch64": 1}.get(platform.machine(), 0)

NUMBERS: dict[str, int] = {name: numbers[_COLUMN] for name, numbers in _BOTH.items()}

MEMORY = ("mremap", "madvise", "mmap", "mprotect")
"""Allowed for memory that is private and cannot be executed, and is counted."""

ENOSYS = ("clone3",)
"""Not there, as on an older kernel: the C library then tries the older call, which is refused."""

_BEFORE_ONLY = ("unshare", "capset", "seccomp", "landlock_create_ruleset", "landlock_restrict_self")
"""Used while the process confines itself, and not after."""

ALLOWED = tuple(name for name in _BOTH if name not in (*MEMORY, *ENOSYS, *_BEFORE_ONLY))
