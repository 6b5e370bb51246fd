"""The Python door."""

import asyncio
from pathlib import Path
from typing import Any, ClassVar

import pytest

import sonde
from sonde.testing.scripted import ScriptedModel, code


def model() -> ScriptedModel:
    return ScriptedModel(
        code("r = await gather(llm('a'), llm('b'))"), code("FINAL(r)"), answer=lambda r: r.messages[0].text * 2
    )


def test_ask_blocks_and_returns_a_result(tmp_path: Path) -> None:
    scripted = model()
    result = sonde.ask("What?", model=scripted, route="rlm", runs_dir=tmp_path)
    scripted.check()
    assert (result.status, result.answer) == ("completed", ["aa", "bb"])
    assert result.coverage.done == 2
    assert result.usage.requests == 4
    assert Path(result.run_dir).parent == tmp_path


def test_ask_works_inside_a_running_loop(tmp_path: Path) -> None:
    async def notebook() -> object:
        return sonde.ask("What?", model=model(), route="rlm", runs_dir=tmp_path).answer

    assert asyncio.run(notebook()) == ["aa", "bb"]


def test_many_at_once(tmp_path: Path) -> None:
    async def main() -> list[sonde.Result]:
        return await asyncio.gather(
            *[sonde.aask("What?", model=model(), route="rlm", runs_dir=tmp_path) for _ in range(5)]
        )

    assert [result.answer for result in asyncio.run(main())] == [["aa", "bb"]] * 5


class Count:
    """Looks like a pydantic model."""

    schema: ClassVar[dict[str, Any]] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    def __init__(self, n: int) -> None:
        self.n = n

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return cls.schema

    @classmethod
    def model_validate(cls, obj: Any) -> "Count":
        return cls(**obj)


def test_a_typed_answer(tmp_path: Path) -> None:
    scripted = ScriptedModel(code("FINAL({'n': 'x'})"), code("FINAL({'n': 3})"))
    result = sonde.ask("What?", model=scripted, route="rlm", runs_dir=tmp_path, schema=Count)
    assert isinstance(result.answer, Count)
    assert result.answer.n == 3


def test_typed_calls_are_repaired_once(tmp_path: Path) -> None:
    said = iter(["no json", '{"n": 1}', "still no", "no json"])
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    cell = f"""
first = await llm('one', schema={schema})
try:
    await llm('two', schema={schema})
except TaskError as error:
    FINAL([first, error.kind])
"""
    scripted = ScriptedModel(code(cell), answer=lambda _: next(said))
    result = sonde.ask("What?", model=scripted, route="rlm", runs_dir=tmp_path)
    assert result.answer == [{"n": 1}, "schema"]
    assert result.usage.requests == 5


@pytest.mark.parametrize(
    "schema",
    [
        "{'type': 'nonsense'}",
        "{'type': 'object', 'properties': {str(n): {} for n in range(40)}}",
        "{'enum': ['x' * 5000]}",
    ],
)
def test_schemas_that_cannot_be_used_cost_nothing(tmp_path: Path, schema: str) -> None:
    cell = f"try:\n    await llm('one', schema={schema})\nexcept TaskError as error:\n    FINAL(error.kind)"
    scripted = ScriptedModel(code(cell), answer=lambda _: "{}")
    result = sonde.ask("What?", model=scripted, route="rlm", runs_dir=tmp_path)
    assert (result.answer, len(scripted.requests)) == ("schema", 1)


def test_usage_errors_are_raised_and_all_else_is_told(tmp_path: Path) -> None:
    with pytest.raises(sonde.UsageError, match="no model"):
        sonde.ask("What?", runs_dir=tmp_path)
    with pytest.raises(sonde.InputError, match="nowhere"):
        sonde.ask("What?", inputs=["nowhere"], model=model(), runs_dir=tmp_path)
    result = sonde.ask("What?", model=ScriptedModel(sonde.ModelError("refused", "no")), runs_dir=tmp_path)
    assert result.status == "failed"
    assert result.error is not None
    assert "no" in result.error.message


def test_cancelling_the_coroutine_cancels_the_run(tmp_path: Path) -> None:
    scripted = ScriptedModel(code("import asyncio\nawait asyncio.sleep(60)"))

    async def main() -> None:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(
                sonde.aask("What?", model=scripted, route="rlm", runs_dir=tmp_path, run_id="mine"), 0.5
            )

    asyncio.run(main())
    from sonde.engine.run import standing

    assert standing(tmp_path / "mine").status == "cancelled"


def test_a_killed_interpreter_gets_its_variables_back(tmp_path: Path) -> None:
    """A cell that dies loses what it set itself; what earlier cells set, and what was paid for, is there."""
    cells = [
        "x = await llm('one')",
        "y = 5\nz = await llm('two')\nimport os\nos._exit(1)",
        "'y' in globals(), x, await llm('two')",
        "FINAL([x, await llm('two')])",
    ]
    scripted = ScriptedModel(*map(code, cells), answer=lambda r: r.messages[0].text.upper())
    result = sonde.ask("What?", model=scripted, route="rlm", runs_dir=tmp_path)
    assert result.answer == ["ONE", "TWO"]
    asked = [request.messages[0].text for request in scripted.requests if request.messages[0].role == "user"]
    assert asked == ["one", "two", "two"], "the paid result was given once, then asked anew"
    last_turn = [request for request in scripted.requests if request.messages[0].role == "system"][-1]
    shown = [message.text for message in last_turn.messages if message.role == "tool"]
    assert "InterpreterDied" in shown[1]
    assert "(False, 'ONE', 'TWO')" in shown[2]
