"""What models read, word for word. To accept a change: `SONDE_ACCEPT=1 make test`, then read the difference."""

import os
from pathlib import Path
from typing import Literal

import msgspec
import pytest

from sonde import jsontext
from sonde.documents.attach import attach
from sonde.engine.delegate import delegate_tools
from sonde.engine.opening import agent_prompts, ask_prompts, first_message, role_prompts
from sonde.engine.root import roles_of
from sonde.engine.transcript import EVAL
from sonde.spec import Limits, ModelChoice, RunSpec
from sonde.tools.toolbox import Toolbox
from sonde.workspace.folder import FolderFiles

FOLDER = Path(__file__).parent / "files"
SPEC = RunSpec("How many?", ModelChoice("openai:m"))
TYPED = RunSpec("How many?", ModelChoice("openai:m"), limits=Limits(timeout_s=60), schema={"type": "integer"})


def same_as_before(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("SONDE_ACCEPT"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n", encoding="utf-8")
    assert text + "\n" == path.read_text(encoding="utf-8")


MONTY = RunSpec("How many?", ModelChoice("openai:m"), interpreter="monty")
JAVASCRIPT = RunSpec("How many?", ModelChoice("openai:m"), interpreter="javascript")


@pytest.mark.parametrize(
    ("name", "spec", "way"),
    [
        ("ask-native", SPEC, "native"),
        ("ask-fenced", TYPED, "fenced"),
        ("ask-monty", MONTY, "native"),
        ("ask-javascript", JAVASCRIPT, "fenced"),
    ],
)
def test_system_prompts(name: str, spec: RunSpec, way: Literal["native", "fenced"]) -> None:
    prompt = ask_prompts(spec, spec.schema)[way]
    assert len(prompt) < 6000
    assert "$" not in prompt
    same_as_before(f"{name}.md", prompt)


def test_families_are_told_what_is_known_of_them() -> None:
    spec = RunSpec("How many?", ModelChoice("ollama:Qwen3-coder"))
    same_as_before("ask-qwen.md", ask_prompts(spec, None)["native"])
    assert ask_prompts(spec, None)["native"].startswith(ask_prompts(SPEC, None)["native"])


def test_agents_and_their_tools(tmp_path: Path) -> None:
    same_as_before("agent-native.md", agent_prompts(RunSpec("Do.", ModelChoice("openai:m"), mode="agent"))["native"])
    tools = (*Toolbox(FolderFiles(tmp_path)).tools, *delegate_tools(["general-purpose"]))
    same_as_before("agent-tools.json", msgspec.json.format(jsontext.encode(tools)).decode())
    general = roles_of(SPEC)["general-purpose"]
    prompt = role_prompts(SPEC, general, {"type": "integer"}, 3, sends=True)["native"]
    same_as_before("task-at-the-limit.md", prompt)


def test_tools() -> None:
    same_as_before("tools.json", jsontext.encode(EVAL).decode())


def test_first_messages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    same_as_before("first-none.md", first_message(SPEC.question, attach([], tmp_path, strict=False), SPEC))
    (tmp_path / "short.csv").write_text("a,b\n1,2\n")
    short = attach(["short.csv"], tmp_path, strict=False)
    same_as_before("first-short.md", first_message(SPEC.question, short, SPEC))
    folder = tmp_path / "folder"
    folder.mkdir()
    for number in range(50):
        (folder / f"{number:02}.txt").write_text(f"begin {number} " + "middle\n" * 100 + 'end "quoted"')
    many = attach(["folder"], tmp_path, strict=False)
    same_as_before("first-many.md", first_message(TYPED.question, many, TYPED))
