"""A document gives exactly what a str of the same text gives, wherever its blocks begin."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.documents import scan as scanning
from sonde.guest.document import Document, joined

PIECES = ["a", "b", "ab", "\n", "\r\n", "\r", "é", "日", "🙂", "\udc80", "\udcff", "x=1", " ", "{", ","]
texts = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)
contents = st.one_of(st.binary(max_size=80), texts.map(lambda text: text.encode("utf-8", "surrogateescape")))


def document(content: bytes, monkeypatch: pytest.MonkeyPatch, name: str = "doc") -> Document:
    monkeypatch.setattr(scanning, "BLOCK", 8)

    def read(start: int, end: int) -> bytes:
        assert 0 <= start <= end <= len(content)
        return content[start:end]

    return Document(name, read, scanning.scan(read, len(content)).blocks)


def plain(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def split(text: str) -> list[str]:
    """Lines end with LF or CRLF, and nothing else ends one."""
    *ended, rest = text.split("\n")
    return [line.removesuffix("\r") for line in ended] + [rest] * bool(rest)


@pytest.fixture(scope="module")
def monkeypatch():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@given(content=contents, start=st.integers(-70, 70), stop=st.integers(-70, 70), step=st.sampled_from([1, 2, -1, -3]))
def test_slices(monkeypatch: pytest.MonkeyPatch, content: bytes, start: int, stop: int, step: int) -> None:
    doc, text = document(content, monkeypatch), plain(content)
    assert len(doc) == len(text)
    assert str(doc) == text
    assert doc[start:stop:step] == text[start:stop:step]
    assert doc[start:] == text[start:]
    for index in (0, -1, start):
        if -len(text) <= index < len(text):
            assert doc[index] == text[index]
        else:
            with pytest.raises(IndexError):
                doc[index]


@given(content=contents)
def test_lines(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    doc, lines = document(content, monkeypatch), split(plain(content))
    assert list(doc) == doc.lines() == lines
    assert doc.line_count == len(lines)
    assert [doc.line(n) for n in range(1, len(lines) + 1)] == lines
    assert list(doc.numbered_lines()) == list(enumerate(lines, 1))
    with pytest.raises(IndexError):
        doc.line(len(lines) + 1)
    with pytest.raises(IndexError):
        doc.line(0)


@given(content=contents, needle=texts.filter(bool), start=st.integers(0, 70))
def test_find_and_count(monkeypatch: pytest.MonkeyPatch, content: bytes, needle: str, start: int) -> None:
    doc, text = document(content, monkeypatch), plain(content)
    encodable = not re.search("[\udc80-\udcff]", needle)
    if encodable or "\n" not in needle:
        assert doc.count(needle) == text.count(needle)
        expected = text.find(needle, start) if start <= len(text) else -1
        assert doc.find(needle, min(start, len(text))) == expected
        assert (needle in doc) == (needle in text)


@given(content=contents)
def test_count_of_texts_that_overlap_themselves(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    doc, text = document(content * 3, monkeypatch), plain(content * 3)
    for needle in ("aa", "abab", "a"):
        assert doc.count(needle) == text.count(needle)


@given(
    content=contents, pattern=st.sampled_from(["a", "a.*b", "^a", "b$", r"\w+", "", "[^x]", r"a\s*b", "(?i)X=1", "日"])
)
def test_grep_finds_the_lines_that_match(monkeypatch: pytest.MonkeyPatch, content: bytes, pattern: str) -> None:
    doc = document(content, monkeypatch)
    lines = split(plain(content))
    expected = [(n, line) for n, line in enumerate(lines, 1) if re.search(pattern, line)]
    found = doc.grep(pattern, before=1, after=2)
    assert [(match.line, match.text) for match in found] == expected
    assert [match.line for match in doc.grep(re.compile(pattern), limit=2)] == [n for n, _ in expected][:2]
    for match in found:
        assert (match.first, match.last) == (max(1, match.line - 1), min(len(lines), match.line + 2))
        assert match.excerpt == "\n".join(lines[match.first - 1 : match.last])


@given(content=contents, by=st.sampled_from(["lines", "chars", "section", "function"]), size=st.integers(1, 7))
def test_chunks_cover_all_and_keep_their_size(
    monkeypatch: pytest.MonkeyPatch, content: bytes, by: str, size: int
) -> None:
    doc, text = document(content, monkeypatch), plain(content)
    pieces = doc.chunks(by, size=size)
    assert "".join(pieces) == text
    assert len(pieces) == len(list(pieces))
    for piece in pieces:
        assert 0 < (len(piece) if by == "chars" else len(split(piece))) <= size
        assert piece.source == "doc"
        if by != "chars":
            assert doc.lines(piece.first_line, piece.last_line) == split(piece)


@given(content=contents, size=st.integers(2, 7), overlap=st.integers(1, 6))
def test_chunks_overlap(monkeypatch: pytest.MonkeyPatch, content: bytes, size: int, overlap: int) -> None:
    doc, text = document(content, monkeypatch), plain(content)
    if overlap >= size:
        with pytest.raises(ValueError, match="overlap"):
            doc.chunks("chars", size, overlap)
        return
    pieces = list(doc.chunks("chars", size, overlap))
    for piece, following in pairwise(pieces):
        assert piece[-overlap:] == following[: len(piece[-overlap:])]
    assert "".join([*pieces[:1], *(piece[overlap:] for piece in pieces[1:])]) == text


@given(parts=st.lists(contents, max_size=4))
def test_joined_documents_read_as_one_text(monkeypatch: pytest.MonkeyPatch, parts: list[bytes]) -> None:
    documents = [document(part, monkeypatch, f"part {number}") for number, part in enumerate(parts)]
    whole = joined("all", documents)
    text = ""
    for number, part in enumerate(parts):
        text += "" if not text or text.endswith("\n") else "\n"
        text += f"==> part {number} <==\n" + plain(part)
    assert str(whole) == text
    assert len(whole) == len(text)
    assert list(whole) == split(text)
    assert whole[3:17] == text[3:17]


def test_a_function_starts_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    source = b"import os\n\ndef a():\n    pass\n\nclass B:\n    def c(self):\n        pass\n"
    pieces = document(source, monkeypatch).chunks("function")
    assert [piece.first_line for piece in pieces] == [1, 3, 6]


def test_a_heading_starts_each_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    pieces = document(b"intro\n# One\ntext\n## Two\nmore\n", monkeypatch).chunks("section")
    assert [piece.splitlines()[0] for piece in pieces] == ["intro", "# One", "## Two"]


def test_records_of_json_lines_and_csv(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = document(b'{"a": 1}\n\n{"a": "x"}\n3\n', monkeypatch).records()
    assert list(rows) == [{"a": 1}, {"a": "x"}, {"value": 3}]
    table = document(b'name;note\nann;"one\r\ntwo"\nbob;\n', monkeypatch)
    assert list(table.records()) == [{"name": "ann", "note": "one\ntwo"}, {"name": "bob", "note": ""}]
    with pytest.raises(ValueError, match="line 2 of doc is not JSON"):
        list(document(b"{}\n{oops\n", monkeypatch).records())
    with pytest.raises(ValueError, match="jsonl"):
        document(b"{}", monkeypatch).records("xml")


def test_a_lone_surrogate_is_not_found_inside_a_character(monkeypatch: pytest.MonkeyPatch) -> None:
    doc = document("é".encode() + b"\xa9", monkeypatch)
    assert doc.find("\udca9") == 1
    assert doc.count("\udca9") == 1


def test_unknown_ways_to_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="section"):
        document(b"x", monkeypatch).chunks("pages")
