"""Path rules that nothing gets around."""

import ctypes
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from sonde.errors import TaskError
from sonde.workspace import paths
from sonde.workspace.folder import FolderFiles
from sonde.workspace.overlay import Overlay
from sonde.workspace.protocol import Change, Files
from sonde.workspace.search import glob, grep
from sonde.workspace.virtual import VirtualFiles

_HERE, _EXCHANGE = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
SECRET = "the secret outside"
ATTACKS = [
    "..",
    "../secret.txt",
    "../../secret.txt",
    "a/../../secret.txt",
    "a/../secret.txt",
    "./../secret.txt",
    "././../secret.txt",
    "a/..",
    "a/b/../../../secret.txt",
    "..//secret.txt",
    ".././secret.txt",
    "a//..//../secret.txt",
    "/etc/passwd",
    "//etc/passwd",
    "/",
    "/..",
    "/../etc/passwd",
    "/proc/self/root/etc/passwd",
    "/dev/zero",
    "~",
    "~/secret.txt",
    "C:",
    "C:/secret.txt",
    "c:secret.txt",
    "Z:\\secret.txt",
    "\\\\server\\share\\secret.txt",
    "\\\\?\\C:\\secret.txt",
    "..\\secret.txt",
    "a\\..\\..\\secret.txt",
    "a/..\\..\\secret.txt",
    "\0",
    "secret.txt\0.md",
    "../secret.txt\0",
    "a\0/../../secret.txt",
    "\u2025/secret.txt",  # two dot leader
    "\u2024\u2024/secret.txt",  # one dot leaders
    "\uff0e\uff0e/secret.txt",  # full-width full stops
    "\ufe52\ufe52/secret.txt",  # small full stops
    ".\u2024/secret.txt",
    ".\uff0e/secret.txt",
    "..\u200b/secret.txt",  # zero-width space
    ".\u200d./secret.txt",  # zero-width joiner
    ".\u2060./secret.txt",  # word joiner
    ".\ufeff./secret.txt",  # byte order mark
    ".\u00ad./secret.txt",  # soft hyphen
    "\u202e../secret.txt",  # right-to-left override
    ".. /secret.txt",
    " ../secret.txt",
    ". ./secret.txt",
    "..\u00a0/secret.txt",  # no-break space
    "..\u3000/secret.txt",  # ideographic space
    "...",
    ".../secret.txt",
    "..../secret.txt",
    "\u2026/secret.txt",  # horizontal ellipsis
    "..\n/secret.txt",
    "\r../secret.txt",
    "..\t/secret.txt",
    "..\u2028/secret.txt",
    "..\x7f/secret.txt",
    "..\u2215secret.txt",  # division slash
    "..\u2044secret.txt",  # fraction slash
    "..\uff0fsecret.txt",  # full-width slash
    "..\u29f8secret.txt",  # big solidus
    "..\uff3csecret.txt",  # full-width backslash
    "..\u2216secret.txt",  # set minus
    "..\ufe68secret.txt",  # small backslash
    "a\u2100b",  # becomes a/c
    "\udc2e\udc2e/secret.txt",  # bytes of dots as lone surrogates
    "..\udc2fsecret.txt",
    "\udcef\udcbc\udc8e./secret.txt",
    "\ud800",
    "a" * 256,
    "é" * 128,
    "a/" * 3000 + "b",
    "link/secret.txt",  # a link to the folder outside
    "link",
    "linked.txt",  # a link to the file outside
    "relative.txt",
    "inner/up/secret.txt",
    "inner/up",
    "loop",
    "loop/a",
    "dangling.txt",
    "root/etc/passwd",
    "cwd/secret.txt",
    "fifo",
    "socket",
    "null",
]
OF_THE_DISK = {
    "link",
    "linked.txt",
    "relative.txt",
    "loop",
    "dangling.txt",
    "root",
    "cwd",
    "fifo",
    "socket",
    "null",
    "inner",
}


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder whose `box` is the workspace, full of traps."""
    box = tmp_path / "box"
    (box / "a").mkdir(parents=True)
    (box / "inner").mkdir()
    (tmp_path / "secret.txt").write_text(SECRET)
    (box / "link").symlink_to(tmp_path)
    (box / "linked.txt").symlink_to(tmp_path / "secret.txt")
    (box / "relative.txt").symlink_to("../secret.txt")
    (box / "inner" / "up").symlink_to("../..")
    (box / "loop").symlink_to("loop")
    (box / "dangling.txt").symlink_to(tmp_path / "made.txt")
    (box / "root").symlink_to("/")
    (box / "cwd").symlink_to("/proc/self/cwd")
    os.mkfifo(box / "fifo")
    (box / "null").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(box)  # the name of a socket must be short
        listener.bind("socket")
        os.chdir(here)
    return tmp_path


def snapshot(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): str(path.readlink())
        if path.is_symlink()
        else path.read_text()
        if path.is_file()
        else ""
        for path in sorted(folder.rglob("*"))
    }


@pytest.mark.parametrize("path", ATTACKS, ids=lambda path: ascii(path)[1:40])
@pytest.mark.parametrize("layer", ["folder", "overlay", "virtual"])
def test_no_path_leaves_the_workspace(outside: Path, path: str, layer: str) -> None:
    before = snapshot(outside)
    if layer == "virtual" and path.split("/")[0] in OF_THE_DISK:
        pytest.skip("there are no links in memory")
    folder = FolderFiles(outside / "box")
    files: Files = {"folder": folder, "overlay": Overlay(folder, "a"), "virtual": VirtualFiles()}[layer]
    doings: list[Callable[[], object]] = [
        lambda: files.read(path),
        lambda: files.read_text(path),
        lambda: files.write(path, "x"),
        lambda: files.write(f"{path}/x", "x"),
        lambda: files.edit(path, SECRET, "x"),
        lambda: files.remove(path),
        lambda: files.apply(Change(path, "x")),
        lambda: files.apply(Change(path, None)),
        lambda: glob(files, f"{path}/*"),
        lambda: grep(files, ".", path).lines,
        lambda: files.ls(path),
    ]
    for do in doings:
        told, given = "", None
        try:
            given = do()
        except TaskError as error:
            told = f"{error.kind}: {error}"
        assert len(told) > 30 or given in ([], (), None, [f"{path}@"]), given
        assert SECRET not in told
    if isinstance(files, Overlay):
        files.merge()
    assert snapshot(outside) == before


def test_attacks_are_many() -> None:
    assert len(set(ATTACKS)) >= 60


def test_a_device_a_pipe_and_a_socket_are_not_opened(outside: Path) -> None:
    files = FolderFiles(outside / "box")
    for name in ("fifo", "socket", "null"):
        with pytest.raises(TaskError, match=r"device, pipe or socket|symbolic link"):
            files.read(name)
    with pytest.raises(TaskError, match="device, pipe or socket"):
        FolderFiles("/dev").read("zero")


def test_a_parent_swapped_for_a_link_leads_nowhere(tmp_path: Path) -> None:
    """One thread swaps a folder and a link to the outside; no read or write ever gets there."""
    outside, box = tmp_path / "outside", tmp_path / "box"
    outside.mkdir()
    (outside / "file.txt").write_text(SECRET)
    (box / "dir").mkdir(parents=True)
    (box / "dir" / "file.txt").write_text("inside")
    (box / "trap").symlink_to(outside)
    files, stop = FolderFiles(box), threading.Event()
    exchange = ctypes.CDLL(None, use_errno=True).renameat2

    def swap() -> None:
        while not stop.is_set():
            assert exchange(_HERE, bytes(box / "dir"), _HERE, bytes(box / "trap"), _EXCHANGE) == 0, ctypes.get_errno()

    swapper = threading.Thread(target=swap)
    swapper.start()
    done = caught = 0
    until = time.monotonic() + 5
    try:
        while (done < 30 or caught < 30) and time.monotonic() < until:
            try:
                assert files.read_text("dir/file.txt").startswith("inside")
                files.write("dir/file.txt", f"inside {done}")
                files.apply(Change("dir/file.txt", "inside again"))
                done += 1
            except TaskError:
                caught += 1
    finally:
        stop.set()
        swapper.join()
    assert done
    assert caught
    assert {each.name: each.read_text() for each in outside.iterdir()} == {"file.txt": SECRET}


def test_a_file_swapped_for_a_link_is_replaced_not_followed(outside: Path) -> None:
    files = FolderFiles(outside / "box")
    with pytest.raises(TaskError, match="not a file"):
        files.write("linked.txt", "x")
    files.write("plain.txt", "x")
    hard = outside / "hard.txt"
    hard.hardlink_to(outside / "box" / "plain.txt")
    files.write("plain.txt", "changed")
    assert hard.read_text() == "x"


@pytest.mark.parametrize(
    "name", [".git/hooks/pre-commit", ".GIT/config", "a/.git/x", ".sonde/runs/x", ".gi\u200dt/x", "GIT~1/x"]
)
def test_closed_folders_are_not_written(tmp_path: Path, name: str) -> None:
    for files in (VirtualFiles(), FolderFiles(tmp_path), Overlay(VirtualFiles())):
        with pytest.raises(TaskError, match="closed to agents"):
            files.write(name, "x")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("there", "new"),
    [
        ("Readme.md", "README.md"),
        ("caf\u00e9.md", "cafe\u0301.md"),
        ("stra\u00dfe", "STRASSE"),
        ("file.txt", "file.txt "),
        ("file.txt", "file.txt."),
        ("file", "\ufb01le"),
        ("a/x", "A/y"),
        ("\u212a.md", "k.md"),
    ],
)
def test_names_that_differ_only_in_looks_are_refused(tmp_path: Path, there: str, new: str) -> None:
    for files in (VirtualFiles(), FolderFiles(tmp_path), Overlay(VirtualFiles())):
        files.write(there, "x")
        with pytest.raises(TaskError, match="could be taken for"):
            files.write(new, "y")
        with pytest.raises(TaskError, match="there is no"):
            files.read(new)
        assert files.read_text(there) == "x"
    base = VirtualFiles()
    base.write(there, "x")
    with pytest.raises(TaskError, match="could be taken for"):
        Overlay(base).write(new, "y")


@pytest.mark.parametrize(
    ("path", "clean"), [("./a", "a"), ("a//b/", "a/b"), (".", ""), ("", ""), ("a/./b", "a/b"), ("日本/é", "日本/é")]
)
def test_one_form(path: str, clean: str) -> None:
    assert paths.cleaned(path) == clean
