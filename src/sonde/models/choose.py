"""From a model's name, as a user writes it, to a model."""

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast
from urllib.parse import urlsplit

import msgspec

from sonde.errors import ModelChoiceError
from sonde.models.names import OTHERS, PROVIDERS, Choice, is_loopback, provider_of, take_apart
from sonde.models.protocol import BEGIN_LOCAL_WITH, BEGIN_WITH, Model

_MODULES = {"local": "sonde.models.local", "replay": "sonde.models.cassette"}
_NEED_NO_KEY = {*_MODULES, "bedrock"}
_EXTRA_MODULE = "sonde.models.pydantic_ai"
_EXTRA = "Install them: pip install 'sonde[providers]'"


class _Wire(Protocol):
    def __call__(self, *, name: str, model: str, base_url: str, key: str, begins_with: int) -> Model: ...


class _Elsewhere(Protocol):
    """What a module offers for the models that do not speak the chat-completions wire."""

    def check(self, choice: Choice) -> None: ...

    def make(self, choice: Choice) -> Model: ...


def choose(text: str, key_env: str | None = None) -> Model:
    """Return the model that `text` names, with the key from `key_env`: its usual variable if that is None, no key if it
    is empty. Raises `ModelChoiceError`; nothing is sent."""
    choice = _with_key(text, key_env)
    if choice.provider not in PROVIDERS:
        return _elsewhere(choice).make(choice)
    # aiohttp takes some 200 ms to import: only now is it known to be needed.
    wire = cast("_Wire", import_module("sonde.models.chat_completions").ChatCompletions)
    many = BEGIN_LOCAL_WITH if choice.provider == "ollama" else BEGIN_WITH
    return wire(name=text, model=choice.name, base_url=choice.base_url, key=choice.key, begins_with=many)


def read_choice(text: str, key_env: str | None = None) -> Choice:
    """Take a model's name apart and find its key. Raises `ModelChoiceError` if it cannot be used."""
    choice = _with_key(text, key_env)
    if choice.provider not in PROVIDERS:
        _elsewhere(choice).check(choice)
    return choice


def _with_key(text: str, key_env: str | None) -> Choice:
    choice = take_apart(text)
    if choice.provider in PROVIDERS and not choice.base_url:
        raise ModelChoiceError(f"{text!r} does not say where", f"Write {choice.provider}:NAME@http://HOST:PORT/v1.")
    return choice if choice.provider in _NEED_NO_KEY else msgspec.structs.replace(choice, key=_key(choice, key_env))


def unknown(choice: Choice) -> ModelChoiceError:
    """Return the error for a provider that nobody knows."""
    known = ", ".join((*PROVIDERS, *OTHERS, *_MODULES))
    return ModelChoiceError(f"unknown provider {choice.provider!r} in {choice.text!r}", f"Known: {known}.")


def _elsewhere(choice: Choice) -> _Elsewhere:
    """Return the module for a model with a wire of its own. Raises `ModelChoiceError` if it cannot be loaded."""
    module = _MODULES.get(choice.provider, _EXTRA_MODULE)
    if module == _EXTRA_MODULE and find_spec("pydantic_ai") is None:
        if choice.provider not in OTHERS:
            raise unknown(choice)
        raise ModelChoiceError(f"{choice.text!r} needs packages that are not installed", _EXTRA)
    return cast("_Elsewhere", import_module(module))


def _key(choice: Choice, key_env: str | None) -> str:
    provider = provider_of(choice.provider)
    usual = [provider.key_env, provider.older_key_env]
    variables = [name for name in (usual if key_env is None else [key_env]) if name]
    for variable in variables:
        key = os.environ.get(variable, "").strip()
        if not key.isascii() or not key.isprintable():
            raise ModelChoiceError(f"what the environment variable {variable} holds is not a key", "Set it again.")
        if key:
            return key
    if not variables or (key_env is None and is_loopback(urlsplit(choice.base_url).hostname or "")):
        return ""
    raise ModelChoiceError(
        f"no key for {choice.text!r}: the environment variable {variables[0]} is not set",
        "Set it, or name another with --key-env.",
    )
