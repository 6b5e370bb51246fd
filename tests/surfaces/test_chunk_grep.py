"""`sonde chunk` and `sonde grep`."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli import Cli

MARKDOWN = "intro\n\n# One\n" + "a\n" * 8 + "\n```sh\n# no heading\n```\n# Two\n" + "b\n" * 5
PYTHON = (
    "import os\n# a comment\n\n\n@cached\ndef one():\n    pass\n\n\n"
    "# about two\nclass Two:\n    def inner(self):\n        pass\n"
)


def write(cli: Cli, name: str, content: str | bytes) -> Path:
    path = cli.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def spans(outcome: Any) -> list[tuple[int, int]]:
    return [(each["start_line"], each["end_line"]) for each in outcome.json["chunks"]]


def numbers(count: int) -> str:
    return "".join(f"{number}\n" for number in range(1, count + 1))


def test_fixed_sizes(cli: Cli) -> None:
    write(cli, "n.txt", numbers(2500))
    chunks = cli("chunk", "n.txt", "--strategy", "fixed_size", "--size", "1000", "--json").json["chunks"]
    assert [each["end_line"] - each["start_line"] + 1 for each in chunks] == [1000, 1000, 500]
    assert [each["overlap_start"] for each in chunks] == [0, 0, 0]
    assert spans(cli("chunk", "n.txt", "--strategy", "fixed_size", "--json")) == [(1, 1000), (1001, 2000), (2001, 2500)]
    fixed = cli("chunk", "n.txt", "--strategy", "fixed", "--json")
    assert spans(fixed)[:2] == [(1, 200), (181, 380)]
    assert fixed.json["chunks"][0]["overlap_end"] == fixed.json["chunks"][1]["overlap_start"] == 20


def test_sections_and_functions(cli: Cli) -> None:
    write(cli, "a.md", MARKDOWN)
    write(cli, "a.py", PYTHON)
    sections = cli("chunk", "a.md", "--strategy", "by_section", "--json").json["chunks"]
    assert [(each["start_line"], each["boundary_type"], each["boundary_label"]) for each in sections] == [
        (1, "start", ""),
        (3, "section", "# One"),
        (16, "section", "# Two"),
    ]
    functions = cli("chunk", "a.py", "--strategy", "auto", "--json").json["chunks"]
    assert [(each["start_line"], each["boundary_label"]) for each in functions] == [
        (1, ""),
        (5, "def one():"),
        (10, "class Two:"),
    ], "what is written above a function belongs to it"


def test_semantic_pieces_end_where_something_ends(cli: Cli) -> None:
    write(cli, "a.md", "".join(f"# Part {part}\n" + "text\n" * 7 for part in range(10)))
    chunks = cli("chunk", "a.md", "--size", "20", "--overlap", "0", "--json").json["chunks"]
    assert [each["boundary_type"] for each in chunks] == ["section"] * 5
    assert [each["end_line"] for each in chunks] == [16, 32, 48, 64, 80]


def test_adaptive_pieces_are_shorter_where_lines_are_long(cli: Cli) -> None:
    write(cli, "a.log", ("x" * 800 + "\n") * 100)
    outcome = cli("chunk", "a.log", "--strategy", "adaptive", "--size", "50", "--overlap", "0", "--json")
    assert {last - first + 1 for first, last in spans(outcome)} == {4}
    assert len(spans(cli("chunk", "a.log", "--strategy", "semantic", "--size", "50", "--overlap", "0", "--json"))) == 2


@pytest.mark.parametrize(
    "strategy", ["semantic", "fixed", "adaptive", "auto", "by_function", "by_section", "fixed_size"]
)
@pytest.mark.parametrize("sizes", [("1", "0"), ("2", "1"), ("7", "3"), ("7", "6"), ("500", "0")])
@pytest.mark.parametrize(
    "content", [MARKDOWN, PYTHON, "one line without an end", "\n\n\n", "a\r\nb\n\nc", b"\xe9\xffno utf-8\n\n# x\ny"]
)
def test_nothing_is_lost(tmp_path: Path, strategy: str, sizes: tuple[str, str], content: str | bytes) -> None:
    from sonde.documents.attach import attach
    from sonde.documents.cut import cut, plan

    raw = content.encode() if isinstance(content, str) else content
    (tmp_path / "a.md").write_bytes(raw)
    inputs = attach([str(tmp_path / "a.md")], tmp_path / "spool", strict=False)
    pieces = list(cut(inputs.documents[0], plan(strategy, *map(int, sizes))))
    text = raw.decode("utf-8", "surrogateescape")
    lines = text.split("\n")
    joined = ""
    for before, piece in zip([None, *pieces], pieces, strict=False):
        mine = piece.text.split("\n")
        assert piece.last_line - piece.first_line + 1 <= int(sizes[0])
        assert mine[0] == lines[piece.first_line - 1]
        assert before is None or piece.first_line == before.last_line + 1 - piece.overlap_start
        assert before is None or before.overlap_end == piece.overlap_start
        joined += "\n".join(mine[piece.overlap_start :])
    assert joined == text
    inputs.files.close()


def test_a_folder_of_pieces_is_made_once(cli: Cli) -> None:
    write(cli, "src/a.py", PYTHON)
    write(cli, "src/b.md", MARKDOWN)
    first = cli("chunk", "src", "--strategy", "auto", "--out", "pieces", "--json").json
    folder = cli.folder / first["folder"]
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["chunks"] == first["chunks"]
    assert set(manifest["chunks"][0]) >= {
        *("id", "file", "start_line", "end_line", "overlap_start", "overlap_end", "boundary_type", "boundary_label")
    }
    texts = {each["id"]: (folder / each["chunk"]).read_text(encoding="utf-8") for each in manifest["chunks"]}
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    assert "".join(texts[each] for each in index["files"]["src/b.md"]["chunks"]) == MARKDOWN
    assert texts[index["labels"]["class Two:"][0]].startswith("# about two")
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    assert (meta["source_hash"], meta["chunks"]) == (folder.name, len(texts))
    assert (cli.folder / "pieces/.gitignore").read_text(encoding="utf-8").endswith("*\n")
    again = ("chunk", "src", "--strategy", "auto", "--out", "pieces", "--json")
    assert cli(*again).json["reused"]
    assert not cli(*again, "--force").json["reused"]
    assert not cli(*again, "--size", "3").json["reused"], "cut in another way"
    assert not cli(*again).json["reused"]
    (folder / manifest["chunks"][0]["chunk"]).unlink()
    assert not cli(*again).json["reused"], "a piece was missing"
    write(cli, "src/a.py", "x = 1\n")
    assert cli(*again).json["folder"] != first["folder"]
    assert sorted(path.name for path in (cli.folder / "pieces").iterdir() if path.is_dir()) != [folder.name]


def test_chunk_heeds_a_profile_of_the_folder(cli: Cli) -> None:
    write(cli, "n.txt", numbers(30))
    write(cli, "sonde.toml", "[rlm]\nchunk_strategy = 'fixed_size'\nchunk_size = 10\n")
    assert spans(cli("chunk", "n.txt", "--json")) == [(1, 10), (11, 20), (21, 30)]
    assert len(spans(cli("chunk", "n.txt", "--size", "15", "--json"))) == 2


def test_chunk_refuses_what_cannot_be_cut(cli: Cli) -> None:
    write(cli, "empty.txt", "")
    write(cli, "binary.bin", b"a\0b")
    write(cli, "a.txt", "a\n")
    for arguments, words in (
        (["none.txt"], "no such file"),
        (["empty.txt"], "is empty"),
        (["binary.bin"], "is binary"),
        (["a.txt", "--size", "0"], "cannot overlap"),
        (["a.txt", "--size", "5", "--overlap", "5"], "cannot overlap"),
        (["a.txt", "--out", "a.txt"], "a.txt"),
        (["a.txt", "--out", "/proc/none"], "cannot write"),
    ):
        outcome = cli("chunk", *arguments)
        assert outcome.code == 2, outcome
        assert words in outcome.error
    assert cli("chunk").code == 2


def test_grep_shows_twenty_lines_on_each_side(cli: Cli) -> None:
    write(cli, "n.txt", numbers(3000))
    found = cli("grep", "^142$", "n.txt", "--json").json
    assert found["matches"] == [{"file": "n.txt", "line": 142, "text": "142", "first_line": 122, "last_line": 162}]
    assert found["excerpts"][0]["lines"] == [str(number) for number in range(122, 163)]
    lines = cli("grep", "^142$", "n.txt").text.splitlines()
    assert (lines[0], lines[20], lines[-1], len(lines)) == ("n.txt-122-122", "n.txt:142:142", "n.txt-162-162", 41)


def test_grep_joins_what_touches(cli: Cli) -> None:
    write(cli, "n.txt", numbers(100))
    text = cli("grep", "^(10|13|50)$", "n.txt", "--before", "1", "--after", "1").text
    assert text.splitlines() == [
        *("n.txt-9-9", "n.txt:10:10", "n.txt-11-11", "n.txt-12-12", "n.txt:13:13", "n.txt-14-14"),
        *("--", "n.txt-49-49", "n.txt:50:50", "n.txt-51-51"),
    ]
    assert cli("grep", "^(10|50)$", "n.txt", "--before", "0", "--after", "0").text == "n.txt:10:10\nn.txt:50:50\n"


def test_grep_across_blocks(cli: Cli) -> None:
    wide = "".join(f"{number:06} {'x' * 500}\n" for number in range(1, 8001))
    write(cli, "wide.txt", wide)
    boundary = (1 << 20) // 508 + 1
    pattern = f"^({boundary - 1:06}|{boundary + 1:06}|{boundary + 2:06}|008000) "
    found = cli("grep", pattern, "wide.txt", "--before", "3", "--after", "2", "--json").json
    assert [each["line"] for each in found["matches"]] == [boundary - 1, boundary + 1, boundary + 2, 8000]
    spans = [(each["first_line"], each["last_line"]) for each in found["excerpts"]]
    assert spans == [(boundary - 4, boundary + 4), (7997, 8000)]
    assert all(
        line.startswith(f"{number:06} ")
        for each in found["excerpts"]
        for number, line in enumerate(each["lines"], each["first_line"])
    )


def test_grep_counts_and_says_what_it_found_by_its_code(cli: Cli) -> None:
    write(cli, "logs/a.log", "ERROR 1\nok\nError 2\n")
    write(cli, "logs/b.log.gz", gzip.compress(b"ERROR 3\r\n"))
    write(cli, "logs/c.log", "ok\n")
    counted = cli("grep", "(?i)error", "logs", "--count")
    assert counted.text.splitlines() == ["logs/a.log:2", "logs/b.log.gz:1", "logs/c.log:0"]
    assert counted.code == 0
    assert cli("grep", "ERROR", "logs", "--count", "--json").json["count"] == 2
    assert cli("grep", "nowhere", "logs").code == 1
    assert cli("grep", "nowhere", "logs", "--json").json["matches"] == []
    assert cli("grep", "^3$", "-", stdin=numbers(5).encode(), timeout=20).code == 0


def test_grep_stops_at_a_limit_and_says_so(cli: Cli) -> None:
    write(cli, "a.txt", "x\n" * 50)
    write(cli, "b.txt", "x\n" * 50)
    outcome = cli("grep", "x", "a.txt", "b.txt", "--limit", "60", "--json", "--after", "0", "--before", "0")
    assert (outcome.json["count"], outcome.json["limited"], len(outcome.json["matches"])) == (60, True, 60)
    assert "stopped after 60 matches" in outcome.stderr


def test_grep_keeps_bytes_that_are_no_text(cli: Cli) -> None:
    write(cli, "a.txt", b"caf\xe9 x\nna\xc3\xafve x\n")
    outcome = cli("grep", "x", "a.txt", "--before", "0", "--after", "0")
    assert outcome.stdout == b"a.txt:1:caf\xe9 x\na.txt:2:na\xc3\xafve x\n"
    assert "1 bytes that are not UTF-8" in outcome.stderr


def test_grep_refuses_what_cannot_be_searched(cli: Cli) -> None:
    write(cli, "a.txt", "a\n")
    write(cli, "binary.bin", b"a\0b")
    for arguments, words in (
        (["(", "a.txt"], "not a regular expression"),
        (["a", "none.txt"], "no such file"),
        (["a", "binary.bin"], "is binary"),
        (["a", "a.txt", "--before", "-1"], "--before"),
    ):
        outcome = cli("grep", *arguments)
        assert outcome.code == 2, outcome
        assert words in outcome.error


def test_grep_ends_in_peace_when_nobody_reads(cli: Cli) -> None:
    write(cli, "n.txt", numbers(200_000))
    process = cli.start("grep", ".", "n.txt")
    assert process.stdout is not None
    assert process.stderr is not None
    assert process.stdout.readline() == b"n.txt:1:1\n"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(20) == 0
