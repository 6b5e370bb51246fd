"""Typed results: check a schema before anything is sent, and a reply after."""

import json
import re
from functools import lru_cache
from typing import Any, cast

import jsonschema_rs

from sonde import jsontext
from sonde.errors import TaskError
from sonde.guest.shapes import MOST_BYTES, MOST_DEPTH, MOST_PROPERTIES, measured

_MOST_PARTS = 10_000
_REFERENCES = re.compile(r"#/(?:\$defs|definitions)/([^/~%]+)")
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*?)\n?```", re.DOTALL)


class Shape:
    """A JSON schema that values are held against. Raises `TaskError` if the schema itself cannot be used."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        _check_size(schema)
        try:
            self._validator = jsonschema_rs.validator_for(schema, retriever=_refuse)
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


def shape_of(schema: dict[str, Any]) -> Shape:
    """Return the shape of a schema, made once for many calls that ask for the same. Raises `TaskError`."""
    return _shape_of(jsontext.encode(schema))


@lru_cache(maxsize=64)
def _shape_of(encoded: bytes) -> Shape:
    return Shape(jsontext.decode(encoded, dict[str, Any]))


def _refuse(uri: str) -> Any:
    """Fetch nothing that a schema refers to: code in a cell wrote it, and must not read files or call servers so."""
    raise ValueError(f"it refers to {uri}, which is not within it")


def instruction(schema: dict[str, Any]) -> str:
    """Return how a model is told to answer in a shape."""
    return f"Answer with JSON alone, valid against this JSON schema:\n{jsontext.encode(schema).decode()}"


def _check_size(schema: dict[str, Any]) -> None:
    size = len(jsontext.encode(schema))
    if size > MOST_BYTES:
        raise TaskError("schema", f"the schema has {size:,} bytes; at most {MOST_BYTES:,} are allowed")
    depth, properties = measured(schema, 0)
    if depth > MOST_DEPTH:
        raise TaskError("schema", f"the schema nests {depth} levels deep; at most {MOST_DEPTH} are allowed")
    parts = _Expanded(schema).count(schema)
    if parts > _MOST_PARTS:
        raise TaskError("schema", f"the schema comes to more than {_MOST_PARTS:,} parts with all that it refers to")
    if properties > MOST_PROPERTIES:
        raise TaskError(
            "schema",
            f"the schema has {properties} properties; at most {MOST_PROPERTIES} are allowed",
        )


class _Expanded:
    """Counts the parts of a schema with every reference replaced by what it names: so much a check may have to do."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._named: dict[str, object] = {**_fields(schema.get("definitions")), **_fields(schema.get("$defs"))}
        self._counted: dict[str, int | None] = {}

    def count(self, node: object) -> int:
        """Return the number of parts. Raises `TaskError` for a reference that goes round or elsewhere."""
        if isinstance(node, list):
            return 1 + sum(self.count(each) for each in cast("list[object]", node))
        if not isinstance(node, dict):
            return 1
        fields = cast("dict[str, object]", node)
        total = 1 + sum(self.count(each) for key, each in fields.items() if key not in {"$defs", "definitions"})
        for key in ("$ref", "$dynamicRef", "$recursiveRef"):
            if isinstance(target := fields.get(key), str):
                total += self._count_named(target)
        return total

    def _count_named(self, target: str) -> int:
        found = _REFERENCES.fullmatch(target)
        name = found[1] if found else ""
        if name not in self._named:
            raise TaskError("schema", f"the schema refers to {target!r}: only #/$defs/NAME that is there can be used")
        if name not in self._counted:
            self._counted[name] = None
            self._counted[name] = self.count(self._named[name])
        counted = self._counted[name]
        if counted is None:
            raise TaskError("schema", f"the schema refers to {target!r} from within itself")
        return counted


def _fields(node: object) -> dict[str, object]:
    return cast("dict[str, object]", node) if isinstance(node, dict) else {}


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:300]
