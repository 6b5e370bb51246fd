"""Laws of paths and files: one form, views that a merge makes true, nothing lost, and changes that rebuild."""

import re
import tempfile
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from sonde.errors import TaskError
from sonde.workspace import paths
from sonde.workspace.folder import FolderFiles
from sonde.workspace.lines import Block, blocks, count, some_lines
from sonde.workspace.overlay import Overlay
from sonde.workspace.protocol import Change, Files
from sonde.workspace.search import glob, grep, matcher
from sonde.workspace.virtual import Held, VirtualFiles

HOSTILE = [
    ".",
    "..",
    "/",
    "\\",
    "\0",
    "~",
    "C:",
    "\u2024",
    "\u2025",
    "\uff0e",
    "\uff0f",
    "\u2215",
    "\u200b",
    "\u200d",
    " ",
    "a",
    "é",
    "\udc2e",
    "\n",
]
hostile = st.one_of(st.text(max_size=30), st.lists(st.sampled_from(HOSTILE), max_size=12).map("".join))
names = st.sampled_from(["a", "b", "A", "c.md", "C.md", "é", "e\u0301"])
some_paths = st.lists(names, min_size=1, max_size=3).map("/".join)
contents = st.sampled_from(["", "x", "y", "one\ntwo\n", "\udc80"])
# what one of three agents does: (agent, what, path, text)
deeds = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["write", "write", "read", "remove", "merge"]), some_paths, contents),
    max_size=25,
)


def everything(files: Files) -> dict[str, str]:
    return {path: files.read_text(path) for path in glob(files, "**")}


def refusal(do: Callable[..., object], *given: object) -> str | None:
    """Return what the error says, or None if there was none."""
    try:
        do(*given)
    except TaskError as error:
        return str(error) or "nothing"
    return None


def attempt(do: Callable[..., object], *given: object) -> bool:
    told = refusal(do, *given)
    assert told is None or len(told) > 10
    return told is None


def deed(files: Files, what: str, path: str, text: str) -> tuple[Callable[..., object], *tuple[str, ...]]:
    """Return one thing to do, and its arguments."""
    return {
        "write": (files.write, path, text),
        "remove": (files.remove, path),
        "edit": (files.edit, path, "x", "yx"),
        "read": (files.read, path),
    }[what]


@given(path=hostile)
@example("a/../..")
def test_a_cleaned_path_stays_below_and_stays_the_same(path: str) -> None:
    if not attempt(paths.cleaned, path):
        return
    clean = paths.cleaned(path)
    assert paths.cleaned(clean) == clean
    for name in clean.split("/") if clean else ():
        plain = unicodedata.normalize("NFKC", name)
        assert name not in {"", ".", ".."}
        assert set(plain) - set(". \u200c\u200d")
        assert not set("/\\\0\n") & set(plain)
    with tempfile.TemporaryDirectory() as root:
        box = Path(root, "box")
        box.mkdir()
        attempt(FolderFiles(box).write, path, "x")
        assert [each.name for each in Path(root).iterdir()] == ["box"]


@given(path=some_paths, role=st.text(max_size=60), number=st.integers(1, 10**6), long=st.integers(0, 255))
def test_a_name_beside_is_a_path_in_the_same_folder(path: str, role: str, number: int, long: int) -> None:
    path = f"{path}{'x' * (long - len(path.encode()))}"
    beside = paths.beside(path, role, number)
    assert paths.cleaned(beside) == beside
    assert paths.split(beside)[0] == paths.split(path)[0]
    assert beside != path


@given(deeds=st.lists(st.tuples(st.sampled_from(["write", "remove", "edit"]), some_paths, contents), max_size=25))
def test_memory_and_disk_behave_alike(deeds: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as root:
        virtual, folder = VirtualFiles(), FolderFiles(root)
        for what, path, text in deeds:
            if what == "remove" and "/" in path:
                continue  # folders stay on a disk
            done = [attempt(*deed(files, what, path, text)) for files in (virtual, folder)]
            assert done[0] == done[1]
            assert everything(virtual) == everything(folder)
            assert virtual.ls() == folder.ls()


@given(before=st.dictionaries(some_paths, contents, max_size=5), deeds=deeds)
def test_a_view_is_what_the_base_is_after_the_merge(
    before: dict[str, str], deeds: list[tuple[int, str, str, str]]
) -> None:
    """One overlay alone, nested or not: a merge changes nothing of what it sees."""
    base = VirtualFiles()
    for path, text in before.items():
        attempt(base.write, path, text)
    plain = VirtualFiles()
    for path, text in everything(base).items():
        plain.write(path, text)
    parent = Overlay(base)
    overlay = Overlay(parent)
    for _, what, path, text in deeds:
        if what in {"write", "remove"}:
            done = [attempt(*deed(files, what, path, text)) for files in (plain, overlay)]
            assert done[0] == done[1]
        elif what == "merge":
            assert overlay.merge().left == ()
        assert everything(overlay) == everything(plain)
        assert overlay.ls() == plain.ls()
    overlay.merge()
    merged = parent.merge()
    assert not merged.left
    assert not any(change.wanted for change in merged.changes)
    assert everything(base) == everything(plain) == everything(overlay)


class Agent:
    """An overlay, and what is to be true of it: what it wrote, and what the base held when it first looked there."""

    def __init__(self, base: VirtualFiles, number: int) -> None:
        self.base = base
        self.name = f"child-{number}"
        self.files = Overlay(base, f"role{number}")
        self.written: dict[str, str] = {}
        self.known: dict[str, str | None] = {}

    def do(self, what: str, path: str, text: str) -> None:
        now = everything(self.base).get(path)
        if not attempt(*deed(self.files, what, path, text)):
            return
        if path not in self.written:
            self.known.setdefault(path, now)
        if what == "write":
            self.written[path] = text
        elif what == "remove":
            self.written.pop(path, None)

    def merge(self) -> tuple[Change, ...]:
        held = everything(self.base)
        merged = self.files.merge(self.name)
        writes = [change for change in merged.changes if change.content is not None]
        assert {change.wanted or change.path for change in writes} == self.written.keys()
        for change in writes:
            assert change.content == self.written[change.wanted or change.path] == self.base.read_text(change.path)
            assert not change.wanted or change.path not in held
        for path, text in held.items():  # of what others had there, only that goes which this agent knew
            assert everything(self.base).get(path) == text or self.known.get(path) == text
        assert all(change.source == self.name for change in merged.changes)
        self.written, self.known = {}, {}
        return merged.changes


@given(before=st.dictionaries(some_paths, contents, max_size=4), deeds=deeds)
def test_nothing_is_lost_and_changes_rebuild(before: dict[str, str], deeds: list[tuple[int, str, str, str]]) -> None:
    """Three agents over one base, in any order: what each wrote is somewhere when all have merged, nothing goes that
    whoever replaced it had not known, and the changes, applied in order, make the same base again."""
    base, journal = VirtualFiles(), list[Change]()
    for path, text in before.items():
        if attempt(base.write, path, text):
            journal.append(Change(path, text))
    agents = [Agent(base, number) for number in range(3)]
    for number, what, path, text in deeds:
        if what == "merge":
            journal.extend(agents[number].merge())
        else:
            agents[number].do(what, path, text)
    for agent in agents:
        journal.extend(agent.merge())
    again = VirtualFiles()
    for change in journal:
        again.apply(change)
    assert everything(again) == everything(base)
    with tempfile.TemporaryDirectory() as root:
        folder = FolderFiles(root)
        if all(attempt(folder.apply, change) for change in journal):
            assert everything(folder) == everything(base)


@given(
    content=st.lists(st.sampled_from([b"a", b"\n", b"\r\n", b"bb", b"\xc3\xa9", b"\xff"]), max_size=60).map(b"".join),
    first=st.integers(1, 30),
    number=st.integers(1, 30),
    size=st.integers(1, 9),
)
def test_lines_are_those_of_the_text_wherever_blocks_end(content: bytes, first: int, number: int, size: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sonde.workspace.lines.BLOCK", size)
        text = content.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
        lines = text.split("\n")[: -1 if text.endswith("\n") or not text else None]
        source = Held(content)
        assert some_lines(source, first, number) == lines[first - 1 : first - 1 + number]
        assert count(source) == len(lines)
        found: list[Block] = list(blocks(source))
        assert b"".join(block.content for block in found).decode("utf-8", "surrogateescape") == text
        files = VirtualFiles()
        files.put("f", content)
        hits = [at for at, line in enumerate(lines, 1) if "b" in line]
        assert [line.number for line in grep(files, "b").lines] == hits
        near = sorted({n for hit in hits for n in range(hit - 2, hit + 3) if 1 <= n <= len(lines)})
        around = grep(files, "b", around=2).lines
        assert [(line.number, line.text) for line in around] == [(n, lines[n - 1]) for n in near]
        assert [line.number for line in around if line.is_match] == hits


@given(
    pattern=st.lists(
        st.sampled_from(["a", "b", "*", "?", "/", "**/", ".", "é", "[ab]", "[!a]", "-"]), min_size=1, max_size=8
    ).map("".join),
    path=st.lists(st.text("ab.é-", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join),
)
def test_globs_match_as_one_thinks(pattern: str, path: str) -> None:
    assume(refusal(paths.cleaned, pattern) is None and refusal(paths.cleaned, path) is None)
    pattern, path = paths.cleaned(pattern), paths.cleaned(path)
    assume(pattern)
    assert matcher(pattern)(path) == slowly(pattern.split("/"), path.split("/"))


def slowly(pattern: list[str], path: list[str]) -> bool:
    if not pattern or not path:
        return not pattern and not path
    if pattern[0] == "**" and len(pattern) > 1:
        return any(slowly(pattern[1:], path[at:]) for at in range(len(path) + 1))
    if pattern == ["**"]:
        return True
    if "**" in pattern[0]:
        assume(False)
    expression = re.sub(r"\[!?\w+\]|.", lambda part: _SLOW.get(part[0], re.escape(part[0])), pattern[0])
    return re.fullmatch(expression, path[0]) is not None and slowly(pattern[1:], path[1:])


_SLOW = {"*": ".*", "?": ".", "[ab]": "[ab]", "[!a]": "[^a]"}
