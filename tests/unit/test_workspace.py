"""What a run's files do, and that all bases do it alike."""

import os
import threading
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from sonde.documents.attach import attach
from sonde.errors import TaskError
from sonde.workspace.folder import FolderFiles
from sonde.workspace.lines import blocks, count, shape, some_lines
from sonde.workspace.mounts import Mounted
from sonde.workspace.overlay import Overlay
from sonde.workspace.protocol import Change, Files
from sonde.workspace.search import glob, grep
from sonde.workspace.virtual import Held, VirtualFiles


@pytest.fixture(params=["virtual", "folder", "overlay", "nested", "mounted"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> Files:
    made: dict[str, Callable[[], Files]] = {
        "virtual": VirtualFiles,
        "folder": lambda: FolderFiles(tmp_path),
        "overlay": lambda: Overlay(FolderFiles(tmp_path)),
        "nested": lambda: Overlay(Overlay(VirtualFiles())),
        "mounted": lambda: Mounted(VirtualFiles(), []),
    }
    return made[request.param]()


def test_files_are_written_read_listed_and_removed(files: Files) -> None:
    assert files.write("a/b.txt", "one\n") == Change("a/b.txt", "one\n")
    assert files.write("./a//c.txt", "two") == Change("a/c.txt", "two")
    assert files.read_text("a/b.txt") == "one\n"
    assert files.read("a/b.txt", 1, 3) == b"ne"
    assert files.read("a/b.txt", 2) == b"e\n"
    assert files.read("a/b.txt", 9) == b""
    assert files.ls() == ["a/"]
    assert files.ls("a") == ["a/b.txt", "a/c.txt"]
    assert files.ls("a/b.txt") == ["a/b.txt"]
    assert files.remove("a/b.txt") == Change("a/b.txt", None)
    assert files.ls("a") == ["a/c.txt"]
    assert files.stat("a/b.txt") is None
    entry = files.stat("a/c.txt")
    assert entry is not None
    assert (entry.kind, entry.size) == ("file", 3)


def test_what_cannot_be_done_is_said(files: Files) -> None:
    files.write("a/b.txt", "one one")
    for do, told in (
        (lambda: files.read("nothing"), "there is no 'nothing'"),
        (lambda: files.read("a/B.txt"), "There is 'a/b.txt'"),
        (lambda: files.read("a"), "folder"),
        (lambda: files.ls("nothing"), "there is no 'nothing'"),
        (lambda: files.write("a", "x"), "not a file"),
        (lambda: files.write("a/b.txt/c", "x"), "not a folder"),
        (lambda: files.write("", "x"), "root"),
        (lambda: files.write("x", "\ud800"), "half of a pair"),
        (lambda: files.remove("a"), "not a file"),
        (lambda: files.remove("nothing"), "there is no"),
        (lambda: files.edit("a/b.txt", "one", "x"), "2 times"),
        (lambda: files.edit("a/b.txt", "three", "x"), "not in"),
        (lambda: files.edit("a/b.txt", "", "x"), "empty"),
        (lambda: files.write("x", "y" * (16 * 1024 * 1024 + 1)), "too many"),
    ):
        with pytest.raises(TaskError, match=told):
            do()
    assert files.ls() == ["a/"]
    assert files.read_text("a/b.txt") == "one one"


def test_edit(files: Files) -> None:
    files.write("a", "one two one")
    assert files.edit("a", "two", "2") == Change("a", "one 2 one")
    assert files.edit("a", "one", "1", replace_all=True) == Change("a", "1 2 1")
    files.write("crlf", "x\r\ny\r\n")
    files.edit("crlf", "x\ny", "x\nz")
    assert files.read("crlf") == b"x\r\nz\r\n"


def test_bytes_that_are_not_utf8_survive_an_edit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"caf\xe9 x")
    files = FolderFiles(tmp_path)
    change = files.edit("a", "x", "y")
    assert (tmp_path / "a").read_bytes() == b"caf\xe9 y"
    other = VirtualFiles()
    other.apply(change)
    assert other.read("a") == b"caf\xe9 y"


def test_a_real_folder_keeps_modes_and_refuses_what_is_read_only(tmp_path: Path) -> None:
    (tmp_path / "run.sh").write_text("a")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "fixed").write_text("a")
    (tmp_path / "fixed").chmod(0o444)
    files = FolderFiles(tmp_path)
    files.write("run.sh", "b")
    assert (tmp_path / "run.sh").stat().st_mode & 0o777 == 0o755
    with pytest.raises(TaskError, match="read-only"):
        files.write("fixed", "b")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["fixed", "run.sh"]


def test_what_is_binary_vanishes_or_changes_is_said(tmp_path: Path) -> None:
    files = FolderFiles(tmp_path)
    (tmp_path / "a.bin").write_bytes(b"\0\1\2")
    with pytest.raises(TaskError, match="not text: 3 bytes"):
        files.read_text("a.bin")
    (tmp_path / "live").write_text("a" * 100)
    with files.open("live") as source:
        assert source.read(0, 5) == b"aaaaa"
        (tmp_path / "live").write_text("b" * 50)
        with pytest.raises(TaskError, match="changed while it was read"):
            source.read(5, 10)
    gone = FolderFiles(tmp_path / "gone")
    for do in (gone.ls, lambda: gone.read("a"), lambda: gone.write("a", "x")):
        with pytest.raises(TaskError, match="is gone"):
            do()


def test_an_unreadable_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "closed").write_text("x")
    (tmp_path / "closed").chmod(0)
    if os.access(tmp_path / "closed", os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(TaskError, match="PermissionError: permission denied"):
        FolderFiles(tmp_path).read("closed")


def test_names_that_cannot_be_used_are_not_listed(tmp_path: Path) -> None:
    for name in (b"bad\xff", b"new\nline", b"good"):
        Path(os.fsdecode(bytes(tmp_path) + b"/" + name)).touch()
    assert FolderFiles(tmp_path).ls() == ["good"]


def test_a_gigabyte_is_never_held(tmp_path: Path) -> None:
    head = b"def first():\n" + b"x\n" * 6000
    for name, size in (("big", 1 << 30), ("less", 64 << 20)):
        with (tmp_path / name).open("wb") as file:
            file.write(head)
            file.truncate(size)
    files = FolderFiles(tmp_path)
    tracemalloc.start()
    with files.open("big") as source:
        assert some_lines(source, 2, 2) == ["x", "x"]
        assert count(source, 500) > 500
    assert files.read("big", (1 << 30) - 2) == b"\0\0"
    for do in (lambda: files.read("big"), lambda: files.edit("big", "first", "second")):
        with pytest.raises(TaskError, match="too many at once"):
            do()
    assert grep(files, "first", "less").lines[0].number == 1
    with files.open("less") as source:
        assert shape(source).entries == ((1, "def first():"),)
    assert tracemalloc.get_traced_memory()[1] < 30_000_000
    tracemalloc.stop()


def test_lines_of_any_length() -> None:
    long = Held(b"a\n" + b"b" * (9 << 20) + b"\nc\r\nlast")
    numbers = [block.first for block in blocks(long)]
    assert numbers == sorted(numbers)
    assert some_lines(long, 1, 1) == ["a"]
    assert some_lines(long, 3, 9) == ["c", "last"]
    assert some_lines(long, 2, 1)[0].startswith("bbb")
    assert some_lines(long, 5, 1) == []
    assert count(long) == 4
    assert count(Held(b"")) == 0


def test_an_outline() -> None:
    code = "class A:\n    def f(self):\n        pass\n## Part\nasync def g():\nexport function h() {\n"
    text = f"# Title\nabout class struggle\n{code}"
    found = shape(Held(text.encode()))
    assert found.lines == 8
    assert [number for number, _ in found.entries] == [1, 3, 4, 6, 7, 8]


def test_glob(files: Files) -> None:
    for path in (
        "a.py",
        "b.txt",
        "src/c.py",
        "src/deep/d.py",
        "src/deep/e.md",
        "node_modules/x.py",
        "src/.venv/y.py",
        "[x].py",
        "sub/{y}.py",
    ):
        files.write(path, "")
    assert glob(files, "*.py") == ["[x].py", "a.py"]
    assert glob(files, "**/*.py") == ["[x].py", "a.py", "src/c.py", "src/deep/d.py", "sub/{y}.py"]
    assert glob(files, "**") == glob(files, "**/*")
    assert glob(files, "src/**/*.{py,md}") == ["src/c.py", "src/deep/d.py", "src/deep/e.md"]
    assert glob(files, "*.py", "src") == ["src/c.py"]
    assert glob(files, "deep/?.py", "./src/") == ["src/deep/d.py"]
    assert glob(files, "src/c.py") == ["src/c.py"]
    assert glob(files, "[ab].*") == ["a.py", "b.txt"]
    assert glob(files, "[!ab].*") == []
    assert glob(files, "[[]x].py") == ["[x].py"]
    assert glob(files, "{a,src/c}.py") == ["a.py", "src/c.py"]
    assert glob(files, "node_modules/*") == ["node_modules/x.py"]
    assert glob(files, "nothing/*") == []
    assert glob(files, "*", "node_modules") == ["node_modules/x.py"]
    with pytest.raises(TaskError, match="there is no 'nowhere'"):
        glob(files, "*", "nowhere")
    for bad in ("", "../*", "/etc/*", "[z-a]", "*" * 1001):
        with pytest.raises(TaskError):
            glob(files, bad)


def test_a_hostile_glob_takes_no_time(files: Files) -> None:
    files.write("/".join(["a" * 30] * 20), "")
    began = time.process_time()
    assert glob(files, "**/" * 100 + "*a" * 100 + "b") == []
    assert time.process_time() - began < 1


def test_grep(files: Files) -> None:
    files.write("a.py", "one\ntwo\nthree\r\nfour\nfive\n")
    files.write("src/b.txt", "two\n")
    files.write("src/.git-like/c.txt", "two")
    files.apply(Change("bin", "\0two"))
    found = grep(files, "^t")
    assert [(line.path, line.number, line.text) for line in found.lines] == [
        ("a.py", 2, "two"),
        ("a.py", 3, "three"),
        ("src/.git-like/c.txt", 1, "two"),
        ("src/b.txt", 1, "two"),
    ]
    assert (found.files, found.passed_over, found.cut) == (3, 1, "")
    assert [line.path for line in grep(files, "two", name="*.txt").lines] == ["src/.git-like/c.txt", "src/b.txt"]
    assert [line.path for line in grep(files, "two", "src", "b.*").lines] == ["src/b.txt"]
    assert [line.path for line in grep(files, "two", "a.py").lines] == ["a.py"]
    around = grep(files, "three", around=1).lines
    assert [(line.number, line.is_match) for line in around] == [(2, False), (3, True), (4, False)]
    assert [line.number for line in grep(files, "one|five", "a.py", around=9).lines] == [1, 2, 3, 4, 5]
    cut = grep(files, "t", most=2)
    assert len(cut.lines) == 2
    assert "2 matches" in cut.cut
    for bad in ("(", "(?=x)", r"(a)\1", "a" * 10_001):
        with pytest.raises(TaskError, match="cannot be used"):
            grep(files, bad)


def test_grep_sees_around_block_borders() -> None:
    files = VirtualFiles()
    lines = [f"{number:07} {'x' * 90}" for number in range(30_000)]
    files.write("a", "\n".join(lines))
    for hit in (0, 10_698, 10_699, 10_700, 21_398, 29_999):
        found = grep(files, f"^{hit:07}", around=2).lines
        assert [line.number - 1 for line in found] == [n for n in range(hit - 2, hit + 3) if 0 <= n < 30_000]
        assert [line.text for line in found if line.is_match] == [lines[hit]]


def test_a_hostile_expression_takes_no_time() -> None:
    files = VirtualFiles()
    files.write("a", "a" * 50_000 + "b\n" + "a" * 100_000)
    began = time.process_time()
    assert len(grep(files, "(a+)+$").lines) == 1
    assert grep(files, "(a|aa)+c").lines == ()
    assert grep(files, "(.*)(.*)(.*)(.*)(.*)x").lines == ()
    assert time.process_time() - began < 2


def test_inputs_are_files_for_reading_only(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.txt").write_text("alpha\nbeta\n")
    (tmp_path / "b.txt").write_text("gamma\n")
    inputs = attach(
        [str(tmp_path / "docs"), f"b={tmp_path / 'b.txt'}", f"..={tmp_path / 'b.txt'}"], tmp_path, strict=False
    )
    files = Overlay(Mounted(VirtualFiles(), inputs.documents))
    files.write("notes.md", "beta too")
    alpha = f"inputs{tmp_path}/docs/a.txt"
    assert glob(files, "inputs/**") == sorted([alpha, "inputs/b", "inputs/input-3"])
    assert files.ls() == ["inputs/", "notes.md"]
    assert files.read_text(alpha) == "alpha\nbeta\n"
    assert [line.path for line in grep(files, "beta").lines] == [alpha, "notes.md"]
    entry = files.stat("inputs/b")
    assert entry is not None
    assert entry.size == 6
    for path in ("inputs/b", "inputs/new", "inputs/b/c", "Inputs/x"):
        with pytest.raises(TaskError, match=r"read-only|could be taken for"):
            files.write(path, "x")
    with pytest.raises(TaskError, match="read-only"):
        files.remove("inputs/b")
    time.sleep(0)
    (tmp_path / "b.txt").write_text("other, and longer\n")
    with pytest.raises(TaskError, match="was changed"):
        files.read("inputs/b")
    inputs.files.close()


def test_edits_from_many_threads_all_count(files: Files) -> None:
    files.write("counter", "0")
    files.write("list", "end")

    def add(name: str) -> None:
        for number in range(5):
            files.edit("list", "end", f"{name}{number} end")

    threads = [threading.Thread(target=add, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(files.read_text("list").split()) == sorted(
        ["end", *(f"{name}{n}" for name in "abcd" for n in range(5))]
    )
