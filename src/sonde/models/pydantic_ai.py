"""Other providers' models, through pydantic-ai's model classes: the extra `providers`."""

import asyncio
import inspect
import os
from collections.abc import Awaitable, Iterator
from importlib import import_module
from itertools import groupby
from typing import Any, Protocol, cast

from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestParameters, infer_model
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.providers import Provider, infer_provider_class
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from sonde.errors import ModelChoiceError, ModelError, ModelFault
from sonde.events import Usage
from sonde.models.choose import unknown
from sonde.models.faults import REMEDIES, excerpt, fault_of
from sonde.models.names import Choice
from sonde.models.protocol import BEGIN_WITH, Finish, Message, Reply, Request, Tool, ToolCall
from sonde.models.strict import Taken, qualifies_as_strict

_FAULTS: tuple[tuple[type[ModelAPIError], ModelFault], ...] = (
    (ModelQuotaExceededError, "quota"),
    (ModelRateLimitError, "rate"),
    (ModelUnavailableError, "overload"),
    (ModelServerError, "server"),
    (ModelTimeoutError, "timeout"),
    (ModelConnectionError, "connection"),
    (ModelContextWindowExceededError, "prompt"),
    (ModelAuthenticationError, "key"),
    (ModelNotFoundError, "model"),
)
_FINISH: dict[str | None, Finish] = {"length": "length", "content_filter": "filter", "tool_call": "tools"}
_BEDROCK = "bedrock"
_NO_KEY = "none"  # for a server on this machine; the clients insist on one


class _Apart(Protocol):
    def __call__(
        self, messages: list[ModelMessage], settings: ModelSettings, parameters: ModelRequestParameters
    ) -> Awaitable[ModelResponse]: ...

    def close(self) -> None: ...


class ProviderModel:
    """A model of a provider with a wire of its own."""

    def __init__(self, choice: Choice, model: Model) -> None:
        self._choice = choice
        self._model = model
        self._key = choice.key or _found_key(model)
        self._entered = False
        self._takes = Taken()
        self._apart: _Apart | None = None
        if choice.provider == _BEDROCK:
            self._apart = cast("_Apart", import_module("sonde.models.bedrock").Apart(model.request))

    @property
    def name(self) -> str:
        """The model as the user named it."""
        return self._choice.text

    @property
    def endpoint(self) -> str:
        """The base address, or the provider where that is not known."""
        return self._model.base_url or self._choice.provider

    @property
    def begins_with(self) -> int:
        """How many requests it is sent at once at first."""
        return BEGIN_WITH

    async def complete(self, request: Request, timeout_s: float) -> Reply:
        """Send one request; once more if the provider does not take its schema. Raises `ModelError`."""
        if request.tools and not self._model.profile.get("supports_tools", True):
            raise ModelError("tools", f"{self.name} has no tools")
        if not self._entered:
            self._entered = True
            await self._model.__aenter__()
        try:
            async with asyncio.timeout(timeout_s):
                response, sent = await self._send(request, timeout_s)
        # Raised without their causes, which may hold what the server said of the key.
        except TimeoutError:
            what = f"{self.name} did not answer within {timeout_s:g} s"
            raise ModelError("timeout", what, REMEDIES["timeout"]) from None
        except ModelAPIError as error:
            raise self._fault(error) from None
        except Exception as error:  # noqa: BLE001 - there is no telling what all their packages raise
            said = excerpt(f"{type(error).__name__}: {error}", self._key)
            kind: ModelFault = "key" if "Credential" in type(error).__name__ else "refused"
            raise ModelError(kind, f"{self.name} could not be asked: {said}", REMEDIES.get(kind, "")) from None
        return _reply(response, sent, self._choice.name)

    async def close(self) -> None:
        """Close all connections."""
        if self._apart is not None:
            self._apart.close()
        if self._entered:
            self._entered = False
            await self._model.__aexit__(None, None, None)

    async def _send(self, request: Request, timeout_s: float) -> tuple[ModelResponse, int]:
        """Return the response, and how many requests it took."""
        messages, settings = _messages(request), self._settings(request, timeout_s)
        schema, send = self._kept(request.schema), self._apart or self._model.request
        try:
            return await send(messages, settings, _parameters(request, schema)), 1
        except ModelHTTPError as error:
            if schema is None or error.status_code != 400:
                raise
            self._takes.learn(schema, _told(error))
            if self._takes(schema):
                raise
        return await send(messages, settings, _parameters(request, None)), 2

    def _kept(self, schema: dict[str, Any] | None) -> dict[str, Any] | None:
        """Return a schema that the provider can be asked to keep. One made to qualify would mean something else."""
        if schema is None or not self._model.profile.get("supports_json_schema_output"):
            return None
        return schema if self._takes(schema) and qualifies_as_strict(schema) else None

    def _settings(self, request: Request, timeout_s: float) -> ModelSettings:
        settings = ModelSettings(timeout=timeout_s, max_retries=0)
        if request.max_tokens is not None:
            settings["max_tokens"] = request.max_tokens
        ignored = self._model.unsupported_settings
        return cast("ModelSettings", {name: value for name, value in settings.items() if name not in ignored})

    def _fault(self, error: ModelAPIError) -> ModelError:
        said = excerpt(_told(error), self._key)
        if isinstance(error, ModelConnectionError) and error.phase == "connect":
            what = f"cannot reach {self.endpoint} for {self.name}: {said}"
            return ModelError("unreachable", what, "Check the address and the server.")
        kind = _kind_of(error)
        if isinstance(error, ModelHTTPError):
            what = f"{self.name} answered {error.status_code}" + (f": {said}" if said else "")
        else:
            what = f"the connection to {self.endpoint} for {self.name} broke: {said}"
        return ModelError(kind, what, REMEDIES.get(kind, ""), retry_after=error.retry_after)


def check(choice: Choice) -> None:
    """Raise `ModelChoiceError` if a model cannot be used."""
    _model(choice)


def make(choice: Choice) -> ProviderModel:
    """Return the model that was chosen. Raises `ModelChoiceError`."""
    return ProviderModel(choice, _model(choice))


def _model(choice: Choice) -> Model:
    try:
        return infer_model(f"{choice.provider}:{choice.name}", lambda _: _provider(choice))
    except ImportError as error:
        raise ModelChoiceError(f"{choice.text!r} needs a package that is not installed", str(error)) from error
    except ModelChoiceError:
        raise
    except Exception as error:
        why = str(error).split(". ")[0].rstrip(".")
        raise ModelChoiceError(f"{choice.text!r} cannot be used: {why}") from error


def _provider(choice: Choice) -> Provider[Any]:
    if choice.provider == _BEDROCK:
        return import_module("sonde.models.bedrock").provider(choice.base_url)
    try:
        kind = infer_provider_class(choice.provider)
    except ValueError:
        raise unknown(choice) from None
    key = choice.key or (_NO_KEY if choice.base_url else "")
    given = {name: value for name, value in (("api_key", key), ("base_url", choice.base_url)) if value}
    odd = given.keys() - inspect.signature(kind.__init__).parameters.keys()
    if odd:
        raise ModelChoiceError(f"{choice.text!r} cannot be given: {', '.join(sorted(odd))}", "Leave it out.")
    return kind(**given)


def _found_key(model: Model) -> str:
    """Return the key that a client has found by itself, so that it can be hidden."""
    client: object = getattr(model.provider, "client", None)
    found: object = getattr(client, "api_key", None) or os.environ.get("AWS_BEARER_TOKEN_BEDROCK")
    return found if isinstance(found, str) else ""


def _messages(request: Request) -> list[ModelMessage]:
    """Return messages as requests and responses that alternate."""
    names = {call.id: call.name for message in request.messages for call in message.tool_calls}
    messages: list[ModelMessage] = []
    for answered, group in groupby(request.messages, lambda message: message.role == "assistant"):
        if answered:
            messages.extend(ModelResponse(list(_said(message))) for message in group)
        else:
            messages.append(ModelRequest([_asked(message, names) for message in group]))
    return messages


def _asked(message: Message, names: dict[str, str]) -> ModelRequestPart:
    if message.role == "system":
        return SystemPromptPart(message.text)
    if message.role == "tool":
        return ToolReturnPart(names.get(message.tool_call_id, ""), message.text, message.tool_call_id)
    return UserPromptPart(message.text)


def _said(message: Message) -> Iterator[ModelResponsePart]:
    if message.text or not message.tool_calls:
        yield TextPart(message.text)
    for call in message.tool_calls:
        yield ToolCallPart(call.name, call.arguments, call.id)


def _parameters(request: Request, schema: dict[str, Any] | None) -> ModelRequestParameters:
    tools = [_tool(tool) for tool in request.tools]
    if schema is None:
        return ModelRequestParameters(function_tools=tools)
    kept = OutputObjectDefinition(schema, name="answer", strict=True)
    return ModelRequestParameters(function_tools=tools, output_mode="native", output_object=kept)


def _tool(tool: Tool) -> ToolDefinition:
    return ToolDefinition(name=tool.name, parameters_json_schema=tool.parameters, description=tool.description)


def _reply(response: ModelResponse, sent: int, name: str) -> Reply:
    calls = tuple(
        ToolCall(part.tool_call_id, part.tool_name, part.args_as_json_str())
        for part in response.parts
        if isinstance(part, ToolCallPart)
    )
    used = response.usage
    return Reply(
        text="".join(part.content for part in response.parts if isinstance(part, TextPart)),
        tool_calls=calls,
        usage=Usage(used.input_tokens, used.output_tokens, used.cache_read_tokens, used.output_reasoning_tokens, sent),
        finish=_FINISH.get(response.finish_reason, "stop"),
        model=response.model_name or name,
    )


def _kind_of(error: ModelAPIError) -> ModelFault:
    for category, fault in _FAULTS:
        if isinstance(error, category):
            return fault
    return fault_of(error.status_code, _told(error)) if isinstance(error, ModelHTTPError) else "response"


def _told(error: ModelAPIError) -> str:
    """Return what a server said of what is wrong, without what surrounds it."""
    body: Any = error.body
    while isinstance(body, dict):
        fields = cast("dict[str, Any]", body)
        body = fields.get("error") or fields.get("message") or ""
    return str(body or error.message)
