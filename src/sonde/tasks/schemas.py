"""Typed results: check a schema before anything is sent, and a reply after."""

import json
import re
from typing import Any, cast

import jsonschema_rs

from sonde import jsontext
from sonde.errors import TaskError

_MOST_BYTES = 4096
_MOST_DEPTH = 5
_MOST_PROPERTIES = 32
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?```", re.DOTALL)


class Shape:
    """A JSON schema that values are held against. Raises `TaskError` if the schema itself cannot be used."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        _check_size(schema)
        try:
            self._validator = jsonschema_rs.validator_for(schema)
        except (ValueError, jsonschema_rs.ValidationError) as error:
            raise TaskError("schema", f"this is not a valid JSON schema: {_first_line(error)}") from error

    def check(self, value: object) -> None:
        """Raise `TaskError` if `value` does not fit."""
        for error in self._validator.iter_errors(value):
            where = "/".join(map(str, error.instance_path)) or "the value"
            raise TaskError("schema", f"{where}: {_first_line(error)}")

    def read(self, text: str) -> Any:
        """Return the value that a reply's text holds. Raises `TaskError` if it is not JSON or does not fit."""
        fenced = _FENCED.search(text)
        try:
            value = json.loads(fenced[1] if fenced else text)
        except (ValueError, RecursionError) as error:
            raise TaskError("schema", f"the reply is not JSON: {error}") from error
        self.check(value)
        return value


def instruction(schema: dict[str, Any]) -> str:
    """Return how a model is told to answer in a shape."""
    return f"Answer with JSON alone, valid against this JSON schema:\n{jsontext.encode(schema).decode()}"


def _check_size(schema: dict[str, Any]) -> None:
    size = len(jsontext.encode(schema))
    if size > _MOST_BYTES:
        raise TaskError("schema", f"the schema has {size:,} bytes; at most {_MOST_BYTES:,} are allowed")
    depth, properties = _measure(schema, 0)
    if depth > _MOST_DEPTH:
        raise TaskError("schema", f"the schema nests {depth} levels deep; at most {_MOST_DEPTH} are allowed")
    if properties > _MOST_PROPERTIES:
        raise TaskError(
            "schema",
            f"the schema has {properties} properties; at most {_MOST_PROPERTIES} are allowed",
        )


def _measure(node: object, depth: int) -> tuple[int, int]:
    """Return the deepest level of objects and arrays that a schema describes, and how many properties it names."""
    if isinstance(node, list):
        below = [_measure(each, depth) for each in cast("list[object]", node)]
    elif isinstance(node, dict):
        fields = cast("dict[str, object]", node)
        named = fields.get("properties")
        own = len(cast("dict[str, object]", named)) if isinstance(named, dict) else 0
        deeper = depth + 1 if own or "items" in fields else depth
        below = [(deeper, own), *(_measure(each, deeper) for each in fields.values())]
    else:
        return depth, 0
    return max((d for d, _ in below), default=depth), sum(count for _, count in below)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:300]
