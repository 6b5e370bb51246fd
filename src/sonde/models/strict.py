"""Which JSON schemas a provider can be asked to keep, and how it tells that it cannot."""

from typing import Any, cast

from sonde import jsontext

_FORMAT_WORDS = (
    "response_format", "response format", "json_schema", "json schema", "structured output", "output_format",
    "output_config", "outputconfig", "responsejsonschema", "responseschema",
)  # fmt: skip
_UNFIT_WORDS = ("invalid schema", "conversion failed", "grammar", "features not supported", "too complex")


def qualifies_as_strict(schema: object) -> bool:
    """Whether a schema may be sent as strict: every object closed, with all its properties required."""
    if isinstance(schema, list):
        return all(qualifies_as_strict(each) for each in cast("list[object]", schema))
    if not isinstance(schema, dict):
        return True
    node = cast("dict[str, object]", schema)
    if node.get("type") == "object" or "properties" in node:
        properties = node.get("properties")
        names = set(cast("dict[str, object]", properties)) if isinstance(properties, dict) else set[str]()
        required = node.get("required")
        listed = set(cast("list[str]", required)) if isinstance(required, list) else set[str]()
        if node.get("additionalProperties") is not False or names != listed:
            return False
    return all(qualifies_as_strict(each) for each in node.values())


class Taken:
    """Which schemas an endpoint takes, learned from its refusals. A prompt holds its schema as text in any case."""

    def __init__(self) -> None:
        self._any = True
        self._unfit: set[bytes] = set()

    def __call__(self, schema: dict[str, Any]) -> bool:
        """Whether a schema is worth sending."""
        return self._any and not (self._unfit and jsontext.encode(schema) in self._unfit)

    def learn(self, schema: dict[str, Any], told: str) -> None:
        """Remember what a server said of a request with this schema, if that was its reason to refuse."""
        words = told.lower()
        if not any(word in words for word in _FORMAT_WORDS):
            return
        if any(word in words for word in _UNFIT_WORDS):
            self._unfit.add(jsontext.encode(schema))
        else:
            self._any = False
