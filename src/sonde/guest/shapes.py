"""What is wrong with a JSON schema, as far as can be told without a validator. The host looks again, and closer."""

import json
from collections.abc import Iterator
from typing import Any, cast

MOST_BYTES = 4096
MOST_DEPTH = 5
MOST_PROPERTIES = 32

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_MEANT = {
    "str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number", "double": "number",
    "bool": "boolean", "dict": "object", "map": "object", "list": "array", "tuple": "array", "set": "array",
    "none": "null", "nonetype": "null", "undefined": "null",
}  # fmt: skip
_NAMES_WORDS = """
$schema $id $ref $anchor $comment $defs $dynamicRef $recursiveRef definitions type enum const title description
default examples format deprecated readOnly writeOnly allOf anyOf oneOf not if then else properties required
additionalProperties patternProperties propertyNames unevaluatedProperties minProperties maxProperties
dependentRequired dependentSchemas dependencies items prefixItems additionalItems unevaluatedItems contains
minContains maxContains minItems maxItems uniqueItems minLength maxLength pattern contentEncoding
contentMediaType contentSchema minimum maximum exclusiveMinimum exclusiveMaximum multipleOf nullable
"""
_WORDS = frozenset(_NAMES_WORDS.split())
_NAMED = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")
_LISTED = ("allOf", "anyOf", "oneOf", "prefixItems")
_SINGLE = ("items", "additionalProperties", "not", "contains", "propertyNames", "if", "then", "else")
_EXAMPLE = '{"type": "object", "properties": {"NAME": {"type": "string"}}, "required": ["NAME"]}'


def fault_of(fields: dict[str, Any]) -> str | None:
    """Return why an object is no schema that a call can have, with the remedy; None if nothing speaks against it."""
    size = len(json.dumps(fields, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass"))
    if size > MOST_BYTES:
        return f"it has {size:,} bytes; at most {MOST_BYTES:,} are allowed: leave out descriptions, or ask in two calls"
    if fields and not _WORDS & fields.keys():
        return f"it has no `type`: write {_EXAMPLE}"
    depth, properties = measured(fields, 0)
    if depth > MOST_DEPTH:
        return f"it nests {depth} levels deep; at most {MOST_DEPTH} are allowed: make it flatter"
    if properties > MOST_PROPERTIES:
        return f"it has {properties} properties; at most {MOST_PROPERTIES} are allowed: ask in two calls"
    for place, part in _parts(fields):
        fault = _fault_of_part(part)
        if fault:
            return f"{place}: {fault}" if place else fault
    return None


def measured(node: object, depth: int) -> tuple[int, int]:
    """Return the deepest level of objects and arrays that a schema describes, and how many properties it names."""
    if isinstance(node, list):
        below = [measured(each, depth) for each in cast("list[object]", node)]
    elif isinstance(node, dict):
        fields = cast("dict[str, object]", node)
        named = fields.get("properties")
        own = len(cast("dict[str, object]", named)) if isinstance(named, dict) else 0
        deeper = depth + 1 if own or "items" in fields else depth
        below = [(deeper, own), *(measured(each, deeper) for each in fields.values())]
    else:
        return depth, 0
    return max((d for d, _ in below), default=depth), sum(count for _, count in below)


def _parts(schema: dict[str, Any]) -> Iterator[tuple[str, object]]:
    """Yield the schemas in a schema, each with where it is."""
    left: list[tuple[str, object]] = [("", schema)]
    while left:
        place, part = left.pop()
        yield place, part
        if isinstance(part, dict):
            left += [(f"{place}/{below}".strip("/"), each) for below, each in _below(cast("dict[str, Any]", part))]


def _below(part: dict[str, Any]) -> Iterator[tuple[str, object]]:
    for word in _NAMED:
        if isinstance(part.get(word), dict):
            yield from ((f"{word}/{name}", each) for name, each in part[word].items())
    for word in _LISTED:
        if isinstance(part.get(word), list):
            yield from ((f"{word}/{number}", each) for number, each in enumerate(part[word]))
    for word in _SINGLE:
        if word in part and not isinstance(part[word], list):
            yield word, part[word]


def _fault_of_part(part: object) -> str | None:
    if isinstance(part, bool):
        return None
    if not isinstance(part, dict):
        return f'{json.dumps(part)[:80]} is no schema: write {{"type": "string"}}'
    fields = cast("dict[str, Any]", part)
    required, enum = fields.get("required", []), fields.get("enum", [])
    if not isinstance(fields.get("properties", {}), dict):
        return f"`properties` is an object of schemas, as in {_EXAMPLE}"
    if not isinstance(required, list) or not all(isinstance(each, str) for each in cast("list[object]", required)):
        return '`required` is a list of names, as in ["NAME"]'
    if not isinstance(enum, list):
        return "`enum` is a list of values"
    return _fault_of_type(fields["type"]) if "type" in fields else None


def _fault_of_type(given: object) -> str | None:
    for each in cast("list[object]", given) if isinstance(given, list) else [given]:
        if not isinstance(each, str) or each not in _TYPES:
            meant = _MEANT.get(each.casefold()) if isinstance(each, str) else None
            remedy = f"did you mean {meant!r}?" if meant else f"the types are {', '.join(sorted(_TYPES))}"
            return f"there is no type {each!r}: {remedy}"
    return None
