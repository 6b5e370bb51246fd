"""The demo without its model: the sample is whole, and nobody who is asked sees a label."""

import re
from pathlib import Path

import pytest
from demo.classify import CELL, HERE, QUESTION, Script, report, rows_of

import sonde
from sonde.models.protocol import Request
from sonde.testing.scripted import FunctionModel


def test_every_message_has_a_label_that_the_run_does_not_get() -> None:
    messages, labels = rows_of(HERE / "sample.jsonl"), rows_of(HERE / "labels.jsonl")
    assert [row["id"] for row in messages] == [row["id"] for row in labels] == list(range(1, 121))
    assert {tuple(row) for row in messages} == {("id", "message")}
    assert len({row["message"] for row in messages}) == len(messages)
    assert {row["label"] for row in labels} == {"positive", "negative"}
    assert not [row for row in messages if row["message"] in CELL]


def test_each_message_is_asked_about_once_and_the_answers_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(request: Request) -> str:
        return "Positive." if "!" in request.messages[0].text else "I cannot tell"

    model = FunctionModel(answer)
    sample = f"messages={HERE / 'sample.jsonl'}"
    result = sonde.ask(QUESTION, inputs=[sample], model=Script(), route="rlm", sub_model=model, runs_dir=tmp_path)
    messages = [row["message"] for row in rows_of(HERE / "sample.jsonl")]
    prompts = [request.messages[0].text for request in model.requests]
    assert [re.sub(r"(?s).*Review: (.*)\nSentiment:", r"\1", prompt) for prompt in prompts] == messages
    assert len({prompt.replace(message, "") for prompt, message in zip(prompts, messages, strict=True)}) == 1
    report(result)
    printed = capsys.readouterr().out
    happy = sum("!" in message for message in messages)
    assert f"positive  {happy:3} " in printed
    assert f"unclear   {120 - happy:3} " in printed
    assert "accuracy: " in printed
    assert "show last --tree" in printed
