"""Views over files that others change: a merge loses nothing."""

import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from sonde.errors import TaskError
from sonde.workspace import paths
from sonde.workspace.folder import FolderFiles
from sonde.workspace.overlay import Overlay
from sonde.workspace.protocol import Change, Files
from sonde.workspace.virtual import VirtualFiles


def test_overlays_merge_and_keep_apart_what_collides() -> None:
    base = VirtualFiles()
    base.write("shared.md", "old")
    first, second, third = Overlay(base, "reviewer"), Overlay(base, "reviewer"), Overlay(base, "odd role/..")
    for overlay, text in ((first, "1"), (second, "2"), (third, "3")):
        assert overlay.read_text("shared.md") == "old"
        overlay.write("shared.md", text)
        overlay.write(f"own-{text}.md", text)
        overlay.write("same.md", "the same")
    assert base.ls() == ["shared.md"]
    assert first.merge("child-1").changes == (
        Change("own-1.md", "1", "child-1"),
        Change("same.md", "the same", "child-1"),
        Change("shared.md", "1", "child-1"),
    )
    merged = second.merge("child-2")
    assert merged.changes[-1] == Change("shared.reviewer-1.md", "2", "child-2", "shared.md")
    assert "shared.md was taken, kept as shared.reviewer-1.md" in str(merged)
    assert third.merge("child-3").changes[-1].path == "shared.odd-role-1.md"
    assert base.ls() == [
        "own-1.md", "own-2.md", "own-3.md", "same.md", "shared.md", "shared.odd-role-1.md", "shared.reviewer-1.md",
    ]  # fmt: skip
    assert base.read_text("shared.md") == "1"
    assert second.merge() == ((), ())
    assert str(second.merge()) == ""


@pytest.mark.parametrize("make", [VirtualFiles, FolderFiles])
def test_what_was_read_before_another_wrote_is_not_written_over(tmp_path: Path, make: Callable[..., Files]) -> None:
    base = make(tmp_path) if make is FolderFiles else make()
    base.write("a.md", "v1")
    reader = Overlay(base, "late")
    assert reader.read_text("a.md") == "v1"
    base.write("a.md", "v2")
    reader.write("a.md", "from v1")
    assert [change.path for change in reader.merge().changes] == ["a.late-1.md"]
    assert base.read_text("a.md") == "v2"
    fresh = Overlay(base, "fresh")
    fresh.edit("a.md", "v2", "v3")
    assert [change.path for change in fresh.merge().changes] == ["a.md"]
    assert base.read_text("a.md") == "v3"


def test_removals_merge_only_where_nothing_is_lost() -> None:
    base = VirtualFiles()
    base.write("a", "1")
    base.write("dir/b", "1")
    overlay = Overlay(base)
    overlay.remove("a")
    overlay.remove("dir/b")
    assert overlay.ls() == []
    with pytest.raises(TaskError, match="there is no"):
        overlay.read("a")
    overlay.write("dir", "a file now")
    base.write("a", "2")
    merged = overlay.merge()
    assert merged.changes == (Change("dir/b", None), Change("dir", "a file now"))
    assert [left.path for left in merged.left] == ["a"]
    assert base.read_text("a") == "2"


def test_a_file_where_another_made_a_folder() -> None:
    base = VirtualFiles()
    one, two, three = Overlay(base, "r"), Overlay(base, "r"), Overlay(base, "r")
    one.write("out/a", "1")
    two.write("out", "2")
    three.write("Out/x", "3")
    three.write("Out/y", "3")
    one.merge()
    assert [change.path for change in two.merge().changes] == ["out.r-1"]
    assert [change.path for change in three.merge().changes] == ["Out.r-2/x", "Out.r-2/y"]
    assert base.read_text("out/a") == "1"


def test_what_cannot_be_written_stays_in_the_overlay(tmp_path: Path) -> None:
    base = FolderFiles(tmp_path)
    (tmp_path / "fixed").write_text("1")
    overlay = Overlay(base)
    overlay.read("fixed")
    overlay.write("fixed", "2")
    overlay.write("other", "3")
    (tmp_path / "fixed").chmod(0o444)
    merged = overlay.merge()
    assert [change.path for change in merged.changes] == ["other"]
    assert [left.path for left in merged.left] == ["fixed"]
    assert "read-only" in str(merged)
    (tmp_path / "fixed").chmod(0o644)
    assert overlay.merge().changes == (Change("fixed", "2"),)


def test_thousands_of_collisions_are_named_quickly() -> None:
    base = VirtualFiles()
    overlays = [Overlay(base, "worker") for _ in range(2000)]
    for number, overlay in enumerate(overlays):
        overlay.write("report.md", str(number))
    began = time.process_time()
    kept = [overlay.merge().changes[0].path for overlay in overlays]
    assert time.process_time() - began < 1
    assert kept == ["report.md", *(f"report.worker-{number}.md" for number in range(1, 2000))]
    assert [base.read_text(path) for path in kept] == [str(number) for number in range(2000)]


def test_a_name_beside_is_never_too_long() -> None:
    for name in ("a" * 255, "é" * 127, "a." + "x" * 253, ".hidden", "a" * 250 + ".tar.gz"):
        beside = paths.beside(f"dir/{name}", "rôle with spaces" * 9, 12)
        assert paths.cleaned(beside) == beside
        assert beside.startswith("dir/")
    assert paths.beside("a.b.md", "x", 3) == "a.b.x-3.md"
    assert paths.beside(".env", "x", 1) == ".env.x-1"
    assert paths.beside("d/e", "", 1) == "d/e.agent-1"


def test_an_overlay_costs_next_to_nothing() -> None:
    base = VirtualFiles()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    kept = [Overlay(base) for _ in range(1000)]
    assert (tracemalloc.get_traced_memory()[0] - before) / len(kept) < 1024
    tracemalloc.stop()
