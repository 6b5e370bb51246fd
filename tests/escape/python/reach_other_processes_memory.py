import os

from sonde.interpreters.confined.child.confine import ctypes

libc = ctypes.CDLL(None, use_errno=True)
room = ctypes.create_string_buffer(64)
vector = (ctypes.c_void_p * 2)(ctypes.addressof(room), 64)
remote = (ctypes.c_void_p * 2)(0x400000, 64)
told = [libc.process_vm_readv(pid, vector, 1, remote, 1, 0) for pid in (os.getppid(), 1, os.getpid())]
told.append(libc.syscall(438, 3, 0, 0))  # another's descriptor
told.append(libc.syscall(434, 1, 0))  # a descriptor of a process
"ESCAPED" if max(told) >= 0 else "held"
