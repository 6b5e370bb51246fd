"""Agents in markdown files."""

from pathlib import Path

import pytest

from sonde.config.agents import presets, read_agent, read_agent_file, read_agents
from sonde.errors import UsageError
from sonde.spec import Subagent

FOREIGN = """---
id: surveyor
name: Surveyor of Large Archives
role: orchestrator
tier: reasoning
model: some-large-model
description: Surveys archives: what is in them, and where   # for people
allowed-tools: Read, Grep, Glob, Bash(ls:*), Task, Write, Edit
license: MIT
---

# Surveyor

You survey archives.
---
A line that only looks like an end.
"""


def write(folder: Path, text: str, name: str = "agent.md") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def head(**fields: str) -> str:
    given = {"name": "a", "description": "Does it.", **fields}
    return "---\n" + "".join(f"{key.replace('_', '-')}: {value}\n" for key, value in given.items()) + "---\nWork.\n"


def test_a_file_made_for_another_program(tmp_path: Path) -> None:
    notes: list[str] = []
    path = write(tmp_path, FOREIGN)
    agent = read_agent(path, notes=notes)
    assert agent == Subagent(
        name="surveyor",
        description="Surveys archives: what is in them, and where",
        system_prompt=agent.system_prompt,
        tools=("read_file", "grep", "glob", "task", "write_file", "edit_file"),
    )
    assert agent.system_prompt.startswith("# Surveyor")
    assert agent.system_prompt.endswith("looks like an end.")
    assert [note.removeprefix(str(path)) for note in notes] == [
        ", line 9: license means nothing here",
        ", line 8: there is no tool Bash here; `interpreter: true` lets it run code in cells",
        ": no model is called 'some-large-model': it gets the usual one; [models] in sonde.toml can tell",
    ]
    file = read_agent_file(path)
    assert (file.title, file.role, file.tier) == ("Surveyor of Large Archives", "orchestrator", "reasoning")
    assert file.model == "some-large-model"


def test_its_model(tmp_path: Path) -> None:
    assert read_agent(write(tmp_path, FOREIGN), {"some-large-model": "ollama:big"}).model == "ollama:big"
    assert read_agent(write(tmp_path, head(model="openai:gpt-5.5"))).model == "openai:gpt-5.5"
    assert read_agent(write(tmp_path, head())).model is None


def test_all_that_a_head_may_hold(tmp_path: Path) -> None:
    text = (
        "\ufeff---\r\n# a note\r\nname: 'it''s'\r\nname2: x\r\n".replace("'it''s'", "a.b_c-1").replace(
            "name2: x\r\n", ""
        )
        + 'description: >\r\n  Does this\r\n  and that.\r\ntools:\r\n  - read_file\r\n  - "my_tool"\r\n'
        + "interpreter: true\r\ncan-delegate-to: [b, c]\r\n---\r\nWork.\r\n"
    )
    assert read_agent(write(tmp_path, text)) == Subagent(
        name="a.b_c-1",
        description="Does this and that.",
        system_prompt="Work.",
        tools=("read_file", "my_tool"),
        interpreter=True,
        can_delegate_to=("b", "c"),
    )


def test_no_tools_and_all_tools(tmp_path: Path) -> None:
    assert read_agent(write(tmp_path, head())).tools is None
    assert read_agent(write(tmp_path, head(allowed_tools="[]"))).tools == ()
    assert read_agent(write(tmp_path, head(allowed_tools=""))).tools == ()


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "must begin with a line ---"),
        ("Only text.", 1, "must begin with a line ---"),
        ("---\nname: a\n", 1, "no second line ---"),
        ("---\nname a\n---\nx", 2, "is not `key: value`"),
        ("---\nname: a\nname: b\n---\nx", 3, "says name again"),
        ("---\nname: a\ndescription: b\n---\n  \n", 1, "system prompt"),
        ("---\ndescription: b\n---\nx", 1, "there is no name"),
        ("---\nname: a\n---\nx", 1, "the description is missing"),
        (head(name="a b"), 2, "'a b' is not an agent's name"),
        (head(name="a" * 65), 2, "up to 64"),
        (head(name="../a"), 2, "is not an agent's name"),
        (head(description="x" * 1025), 3, "1,025 characters"),
        (head(name="[a, b]"), 2, "must be one text"),
        (head(modle="a:b"), 4, "did you mean model"),
        (head(allowed_tool="Read"), 4, "did you mean allowed-tools"),
        (head(interpreter="maybe"), 4, "true or false"),
        (head(tools="[a, b"), 4, "does not end it"),
        (head(model="'a:b"), 4, "does not end it"),
        (head(model="{a: b}"), 4, "put it in quotes"),
        ("---\nname: a\ntools:\n  read: yes\n---\nx", 4, "nested"),
        ("---\nname: \xe9\ud800".replace("\ud800", "") + "\ndescription: b\n---\nx", 2, "is not an agent's name"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, text: str, line: int, words: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        read_agent(path)
    assert f"{path}, line {line}: " in str(caught.value)
    assert words in str(caught.value)


def test_files_that_are_not_text(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"---\nname: a\n\xff")
    with pytest.raises(UsageError, match="line 3: is not UTF-8"):
        read_agent(path)
    path.write_bytes(b"x" * (1 << 20 | 1))
    with pytest.raises(UsageError, match="larger than"):
        read_agent(path)
    with pytest.raises(UsageError, match="cannot read"):
        read_agent(tmp_path / "none.md")


def test_a_folder_of_agents(tmp_path: Path) -> None:
    write(tmp_path, head(name="b"), "2.md")
    write(tmp_path, head(name="a"), "1.md")
    write(tmp_path, "no agent", "readme.txt")
    assert [agent.name for agent in read_agents(tmp_path)] == ["a", "b"]
    write(tmp_path, head(name="a"), "3.md")
    with pytest.raises(UsageError, match=r"3\.md and .*1\.md both name an agent 'a'"):
        read_agents(tmp_path)
    with pytest.raises(UsageError, match="cannot read the agents"):
        read_agents(tmp_path / "none")


def test_the_agents_that_come_with_it() -> None:
    agents = {agent.name: agent for agent in presets()}
    assert set(agents) == {"research-specialist", "code-writer", "critic", "rlm"}
    assert agents["rlm"].tools == ("read_file", "write_file", "glob", "grep", "delegate")
    assert agents["rlm"].can_delegate_to is None, "it may send itself"
    assert "RLM Depth" in agents["rlm"].system_prompt
    for part in ("symbols", "Decomposition", "Workspace", "chunks/", "results/", "Depth"):
        assert part in agents["rlm"].system_prompt
    for agent in agents.values():
        assert len(agent.system_prompt) < 3000
        assert agent.model is None
