"""Whatever an interpreter sends, the host neither crashes nor hangs; and frames mean the same however they are cut."""

import asyncio
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from sonde.interpreters.bridge import LONGEST_FRAME, BadFrame
from sonde.interpreters.protocol import CellResult
from tests.fuzz.frames import outcome

DONE = {"done": {"status": "ok", "value": "2", "stdout": "", "changed_input": None}, "cell": 1}

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)
names = st.sampled_from(["ready", "calls", "cancelled", "waiting", "done", "cell", "other"])
calls = st.lists(st.tuples(st.integers(-3, 5), st.text(max_size=3), st.dictionaries(st.text(max_size=3), plain)))
frames: st.SearchStrategy[Any] = st.one_of(
    st.dictionaries(names, plain, max_size=3),
    st.fixed_dictionaries({"calls": calls}),
    st.fixed_dictionaries({"cancelled": st.lists(st.integers(-3, 5))}),
    st.just(DONE),
    plain,
)


def framed(frame: Any) -> bytes:
    body = json.dumps(frame).encode()
    return len(body).to_bytes(4, "little") + body


@given(pieces=st.lists(st.binary(max_size=40), max_size=4))
def test_any_bytes_end_in_an_error_or_wait_for_more(pieces: list[bytes]) -> None:
    assert asyncio.run(outcome(pieces)) is None or isinstance(asyncio.run(outcome(pieces)), BadFrame)


@given(sent=st.lists(frames, max_size=6))
def test_any_json_ends_the_cell_or_is_taken(sent: list[Any]) -> None:
    ended = asyncio.run(outcome([b"".join(map(framed, sent))]))
    assert ended is None or isinstance(ended, BadFrame | CellResult)


@given(data=st.data(), before=st.integers(0, 2))
def test_frames_mean_the_same_however_they_are_cut(data: st.DataObject, before: int) -> None:
    calls = [framed({"calls": [[n + 1, "llm", {"prompt": "é\ud800"}]], "cancelled": []}) for n in range(before)]
    whole = b"".join(calls) + framed(DONE)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    pieces = [whole[start:end] for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert asyncio.run(outcome(pieces)) == CellResult("ok", "2")


def test_a_frame_too_long_is_refused_by_its_length_alone() -> None:
    ended = asyncio.run(outcome([(LONGEST_FRAME + 1).to_bytes(4, "little")]))
    assert isinstance(ended, BadFrame)
    assert asyncio.run(outcome([LONGEST_FRAME.to_bytes(4, "little"), b"x"])) is None


def test_odd_frames_are_refused_like_any_other() -> None:
    """Frames that were once no error of the decoder's but of its own."""
    deep = [opening * 100_000 for opening in (b"[", b'{"a":', b'{"calls":[[1,"llm",{"a":')]
    for body in (*deep, b'{"ca\x97":1}', b'{"calls":[\xe6,"c}', b'{"done":{"status":"\\ud800"}}'):
        ended = asyncio.run(outcome([len(body).to_bytes(4, "little") + body]))
        assert isinstance(ended, BadFrame)
