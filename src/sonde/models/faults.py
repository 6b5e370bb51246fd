"""What a provider's refusal means, and how it is told without telling a key."""

from sonde.errors import ModelFault

_MESSAGE_CHARS = 300
_SHORTEST_SECRET = 8

_QUOTA_WORDS = ("insufficient_quota", "billing", "credit balance")
_OVERLOAD_WORDS = ("overloaded", "over capacity")
_LENGTH_WORDS = ("context_length", "context length", "context window", "context size", "too long")
_TOOL_WORDS = ("support", "tool choice requires")
_BY_STATUS: dict[int, ModelFault] = {
    401: "key",
    402: "quota",
    403: "key",
    404: "model",
    408: "server",
    409: "server",
    413: "prompt",
    425: "server",
    429: "rate",
    503: "overload",
    529: "overload",
}

REMEDIES: dict[ModelFault, str] = {
    "quota": "Top up the account, then `sonde resume` the run.",
    "key": "Check the key, or name another variable with --key-env.",
    "prompt": "Send less in one prompt.",
    "model": "Check the model's name and the address.",
    "timeout": "Allow more with --call-timeout.",
}


def fault_of(status: int, told: str) -> ModelFault:
    """Return what kind of failure an HTTP status and the words that came with it mean."""
    words = told.lower()
    if any(word in words for word in _QUOTA_WORDS):
        return "quota"
    if any(word in words for word in _LENGTH_WORDS):
        return "prompt"
    if status in {400, 404} and "tool" in words and any(word in words for word in _TOOL_WORDS):
        return "tools"
    if any(word in words for word in _OVERLOAD_WORDS):
        return "overload"
    return _BY_STATUS.get(status, "server" if status >= 500 else "refused")


def seconds(retry_after: str | None) -> float | None:
    """Return what a Retry-After header asks for. A date is ignored: clocks differ."""
    try:
        return max(0.0, float(retry_after)) if retry_after else None
    except ValueError:
        return None


def excerpt(told: str | bytes, key: str) -> str:
    """Return the beginning of what a server said, on one line and without the key that it may repeat."""
    text = told.decode("utf-8", "replace") if isinstance(told, bytes) else told
    # Hidden before it is cut: half a key would not be found.
    return " ".join(hidden(text, key).split())[:_MESSAGE_CHARS]


def hidden(text: str, key: str) -> str:
    """Return a text without the key. One that is too short to be a secret would only make holes in it."""
    return text.replace(key, "[key]") if len(key) >= _SHORTEST_SECRET else text
