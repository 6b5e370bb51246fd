"""What a schema that code in a cell wrote may not do."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sonde.errors import TaskError
from sonde.tasks.schemas import Shape


def test_a_schema_reads_no_file_and_calls_no_server(tmp_path: Path) -> None:
    """The host would do it, with all the rights that a cell does not have."""
    secret = tmp_path / "schema.json"
    secret.write_text('{"type": "integer"}')
    for key in ("$ref", "$dynamicRef", "$schema"):
        for target in (secret.as_uri(), "http://127.0.0.1:9/schema.json", "other.json"):
            with pytest.raises(TaskError) as refused:
                Shape({key: target})
            assert refused.value.kind == "schema"
    with pytest.raises(TaskError):
        Shape({"$id": tmp_path.as_uri() + "/", "properties": {"a": {"$ref": "schema.json"}}})


def test_a_small_schema_cannot_be_endless_work() -> None:
    names = [f"d{n}" for n in range(20)]
    doubling: dict[str, Any] = {name: {"anyOf": [{"$ref": f"#/$defs/{after}"}] * 2} for name, after in pairwise(names)}
    doubling[names[-1]] = {"type": "integer"}
    with pytest.raises(TaskError, match="parts"):
        Shape({"$ref": "#/$defs/d0", "$defs": doubling})


def test_a_schema_may_refer_to_its_own_definitions_but_not_in_a_circle() -> None:
    shape = Shape({"type": "array", "items": {"$ref": "#/$defs/n"}, "$defs": {"n": {"type": "integer"}}})
    shape.check([1, 2])
    with pytest.raises(TaskError):
        shape.check(["one"])
    with pytest.raises(TaskError, match="within itself"):
        Shape({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}]}}})
