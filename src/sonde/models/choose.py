"""From a model's name, as a user writes it, to a model."""

import ipaddress
import os
import re
from importlib import import_module
from typing import Protocol, cast
from urllib.parse import urlsplit

import msgspec

from sonde.errors import ModelChoiceError
from sonde.models.protocol import Model

_CHOICE = re.compile(r"(?P<provider>[a-z][a-z0-9_-]*):(?P<name>.+?)(?:@(?P<url>https?://.+))?", re.DOTALL)
_EXAMPLES = "openai:gpt-5.5, openrouter:z-ai/glm-5.2, ollama:qwen3-coder, or openai:NAME@http://127.0.0.1:8000/v1"


class Provider(msgspec.Struct, frozen=True):
    """Where a provider is found, and which environment variables hold its key and another address."""

    base_url: str = ""
    key_env: str = ""
    url_env: str = ""


PROVIDERS: dict[str, Provider] = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "ollama": Provider("http://127.0.0.1:11434/v1", "", "OLLAMA_BASE_URL"),
    "vllm": Provider("", "VLLM_API_KEY", "VLLM_BASE_URL"),
}


class Choice(msgspec.Struct, frozen=True):
    """A model's name taken apart. The key itself is in `key`, and nowhere else."""

    provider: str
    name: str
    base_url: str
    key: str


class _Wire(Protocol):
    def __call__(self, name: str, model: str, base_url: str, key: str) -> Model: ...


def choose(text: str, key_env: str | None = None) -> Model:
    """Return the model that `text` names. Raises `ModelChoiceError`; nothing is sent."""
    choice = read_choice(text, key_env)
    # aiohttp takes some 200 ms to import: only now is it known to be needed.
    wire = cast("_Wire", import_module("sonde.models.chat_completions").ChatCompletions)
    return wire(name=text, model=choice.name, base_url=choice.base_url, key=choice.key)


def read_choice(text: str, key_env: str | None = None) -> Choice:
    """Take a model's name apart and find its key. Raises `ModelChoiceError`."""
    match = _CHOICE.fullmatch(text)
    if match is None:
        raise ModelChoiceError(f"{text!r} is not a model", f"Write PROVIDER:NAME, such as {_EXAMPLES}.")
    provider = PROVIDERS.get(match["provider"])
    if provider is None:
        known = ", ".join(PROVIDERS)
        raise ModelChoiceError(f"unknown provider {match['provider']!r} in {text!r}", f"Known: {known}.")
    base_url = match["url"] or os.environ.get(provider.url_env, "") or provider.base_url
    _check_url(text, base_url, match["provider"])
    return Choice(match["provider"], match["name"], base_url, _key(text, provider, base_url, key_env))


def _check_url(text: str, base_url: str, provider: str) -> None:
    if not base_url:
        raise ModelChoiceError(f"{text!r} does not say where", f"Write {provider}:NAME@http://HOST:PORT/v1.")
    parts = urlsplit(base_url)
    if parts.username or parts.password:
        raise ModelChoiceError(
            f"the address of {provider} holds a user name or password",
            "Put the key in an environment variable and name it with --key-env.",
        )
    if not parts.hostname:
        raise ModelChoiceError(f"{base_url!r} is not an address", "Write http://HOST:PORT/v1.")


def _key(text: str, provider: Provider, base_url: str, key_env: str | None) -> str:
    variable = key_env or provider.key_env
    key = os.environ.get(variable, "").strip() if variable else ""
    if key or not variable:
        return key
    if key_env is None and _is_loopback(urlsplit(base_url).hostname or ""):
        return ""
    raise ModelChoiceError(
        f"no key for {text!r}: the environment variable {variable} is not set",
        "Set it, or name another with --key-env.",
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
