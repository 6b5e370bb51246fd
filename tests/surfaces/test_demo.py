"""The demo without its model: the sample is whole, and nobody who is asked sees a label."""

import re

import pytest
from demo.classify import HERE, MESSAGES, WORKFLOW, report, rows_of

from sonde.testing.server import ChatRequest
from tests.cli import Cli
from tests.conftest import OpenServer


def test_every_message_has_a_label_that_the_run_does_not_get() -> None:
    messages, labels = rows_of(HERE / "sample.jsonl"), rows_of(HERE / "labels.jsonl")
    assert [row["id"] for row in messages] == [row["id"] for row in labels] == list(range(1, 121))
    assert {tuple(row) for row in messages} == {("id", "message")}
    assert len({row["message"] for row in messages}) == len(messages)
    assert {row["label"] for row in labels} == {"positive", "negative"}
    workflow = WORKFLOW.read_text(encoding="utf-8")
    assert not [row for row in messages if row["message"] in workflow]


def test_each_message_is_asked_about_once_and_the_answers_are_counted(
    cli: Cli, serve: OpenServer, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts: list[str] = []

    def answer(request: ChatRequest) -> str:
        prompts.append(request.prompt)
        assert len(request.messages) == 1
        return "Positive." if "!" in request.prompt else "I cannot tell"

    model = f"openai:test@{serve(answer).url}"
    outcome = cli("run", WORKFLOW, MESSAGES, "--model", model, "--json", "--quiet")
    messages = [row["message"] for row in rows_of(HERE / "sample.jsonl")]
    asked = [re.sub(r"(?s).*Review: (.*)\nSentiment:", r"\1", prompt) for prompt in prompts]
    assert sorted(asked) == sorted(messages)
    assert len({prompt.replace(message, "") for prompt, message in zip(prompts, asked, strict=True)}) == 1
    report(outcome.json)
    printed = capsys.readouterr().out
    happy = sum("!" in message for message in messages)
    assert f"positive  {happy:3} " in printed
    assert f"unclear   {120 - happy:3} " in printed
    assert "accuracy: " in printed
    assert "show last --tree" in printed
