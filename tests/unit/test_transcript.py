"""How replies are read, with tools and without."""

import json

import pytest

from sonde.engine.transcript import Cell, Closing, Transcript
from sonde.interpreters.protocol import CellError, CellResult
from sonde.models.protocol import Reply, ToolCall


def fresh() -> Transcript:
    return Transcript({"native": "with tools", "fenced": "with fences"}, "question")


def cells(reply: str | Reply) -> list[Cell]:
    step = fresh().read(Reply(reply) if isinstance(reply, str) else reply)
    assert isinstance(step, list)
    return [each for each in step if isinstance(each, Cell)]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\nx = 1\n```", "x = 1\n"),
        ("Let me look.\n\n```repl\nx = 1\n```\n", "x = 1\n"),
        ("```\nx = 1\n```", "x = 1\n"),
        ("```Python\nx = 1\n```", "x = 1\n"),
        ("``` py \nx = 1\n```", "x = 1\n"),
        ("  ```python\n  x = 1\n  ```", "  x = 1\n"),
        ("```python\nx = 1", "x = 1"),
        ("```json\n{}\n```\nthen\n```python\nx = 1\n```", "x = 1\n"),
        ("```python title=a\nx = 1\n```", "x = 1\n"),
    ],
)
def test_the_first_block_is_run(text: str, code: str) -> None:
    assert [cell.code for cell in cells(text)] == [code]


def test_what_comes_after_the_block_is_dropped_and_told() -> None:
    transcript = fresh()
    step = transcript.read(Reply("```python\n1\n```\nIt printed 1, so:\n```python\nFINAL(1)\n```"))
    assert isinstance(step, list)
    assert isinstance(step[0], Cell)
    transcript.show(step[0], CellResult("ok", "1"))
    assert "FINAL" not in transcript.messages[-2].text
    assert (
        transcript.messages[-1].text
        == "<result>\n1\n</result>\nOnly the first block was run; what came after it was dropped."
    )
    assert transcript.request().tools == ()
    assert transcript.request().messages[0].text == "with fences"


@pytest.mark.parametrize("text", ["The answer is 3.", "```json\n{}\n```\nDone.", "Use `x`."])
def test_text_without_code_closes(text: str) -> None:
    assert fresh().read(Reply(text)) == Closing(text)


@pytest.mark.parametrize(
    ("text", "closing"),
    [
        ("FINAL(42)", Closing(42)),
        ("So:\nFINAL('a (b)')", Closing("a (b)")),
        ("FINAL(sport wins)", Closing("sport wins")),
        ('FINAL_VAR("total")', Closing(None, "total")),
        ("FINAL_VAR(total)\n", Closing(None, "total")),
        ("FINAL({'a': [1]})", Closing({"a": [1]})),
    ],
)
def test_final_in_closing_text_counts(text: str, closing: Closing) -> None:
    assert fresh().read(Reply(text)) == closing


def test_tool_calls_are_run_in_order_and_bad_ones_are_told() -> None:
    calls = (
        ToolCall("a", "eval", json.dumps({"code": "1"})),
        ToolCall("b", "eval", "{oops"),
        ToolCall("c", "search", "{}"),
        ToolCall("d", "eval", '{"code": 3}'),
    )
    step = cells(Reply("", calls))
    assert [cell.code for cell in step] == ["1", "", "", ""]
    assert [bool(cell.problem) for cell in step] == [False, True, True, True]
    assert "no tool 'search'" in step[2].problem
    transcript = fresh()
    transcript.read(Reply("", calls))
    for cell in step:
        transcript.show(cell, None if cell.problem else CellResult("ok", "1"))
    assert [message.tool_call_id for message in transcript.messages[-4:]] == ["a", "b", "c", "d"]
    closing = transcript.read(Reply("In Python:\n```python\nx\n```"))
    assert isinstance(closing, Closing), "a model that uses tools may show code in its answer"


def test_results_are_cut_and_say_so() -> None:
    transcript = fresh()
    error = CellError("ValueError", "bad", '  File "<cell 1>", line 1\n')
    transcript.show(Cell("x"), CellResult("error", "v" * 5000, "out\n", error))
    assert transcript.messages[-1].text == (
        "<stdout>\nout\n</stdout>\n<result>\n" + "v" * 4000 + "\n[cut: 4,000 of 5,000 characters shown]\n</result>\n"
        '<error type="ValueError">\n  File "<cell 1>", line 1\nValueError: bad\n</error>'
    )
    transcript.show(Cell("x"), CellResult("ok"))
    assert transcript.messages[-1].text == "<result>\n(no value)\n</result>"


def test_only_what_is_new_is_recorded_with_a_turn() -> None:
    transcript = fresh()
    assert [message.text for message in transcript.unsent()] == ["question"]
    transcript.tell("more")
    assert [message.text for message in transcript.unsent()] == ["more"]
