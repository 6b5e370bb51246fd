"""From names to models, and what the wire makes of answers."""

import asyncio
import json
from collections.abc import Callable

import pytest

from sonde.errors import ModelChoiceError, ModelError
from sonde.events import Usage
from sonde.models.chat_completions import ChatCompletions, qualifies_as_strict
from sonde.models.choose import read_choice
from sonde.models.protocol import Message, Reply, Request, Tool
from sonde.models.retry import wait_s
from sonde.testing.server import ChatRequest, Faults, FaultServer, Latency, Said, Settings, call_tool
from tests.conftest import OpenServer


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENROUTER_API_KEY", "VLLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def test_choices_are_taken_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_choice("ollama:qwen3-coder:30b").base_url == "http://127.0.0.1:11434/v1"
    choice = read_choice("openai:any/one@http://localhost:8089/v1")
    assert (choice.name, choice.base_url, choice.key) == ("any/one", "http://localhost:8089/v1", "")
    monkeypatch.setenv("OPENROUTER_API_KEY", " secret ")
    choice = read_choice("openrouter:z-ai/glm-5.2")
    assert (choice.name, choice.key) == ("z-ai/glm-5.2", "secret")
    monkeypatch.setenv("MINE", "other")
    assert read_choice("vllm:x@http://host:8000/v1", "MINE").key == "other"
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    assert read_choice("openai:gpt-5.5").base_url == "http://127.0.0.1:9/v1"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gpt-5.5", "PROVIDER:NAME"),
        ("acme:x", "unknown provider"),
        ("openai:x", "OPENAI_API_KEY"),
        ("openai:x@http://example.com/v1", "OPENAI_API_KEY"),
        ("vllm:x", "where"),
        ("openai:x@http://user:pw@127.0.0.1/v1", "password"),
        ("openai:x@http:///v1", "not an address"),
    ],
)
def test_choices_that_cannot_work(name: str, words: str) -> None:
    with pytest.raises(ModelChoiceError, match=words):
        read_choice(name)


def ask(server: FaultServer, *requests: Request, timeout_s: float = 5, key: str = "") -> list[Reply | ModelError]:
    async def main() -> list[Reply | ModelError]:
        model = ChatCompletions(name="openai:m", model="m", base_url=server.url, key=key)
        outcomes: list[Reply | ModelError] = []
        try:
            for request in requests or (Request((Message("user", "hello"),)),):
                try:
                    outcomes.append(await model.complete(request, timeout_s))
                except ModelError as error:
                    outcomes.append(error)
        finally:
            await model.close()
        return outcomes

    return asyncio.run(main())


def test_a_reply_with_its_usage(serve: OpenServer) -> None:
    said = Said("hi", input_tokens=7, output_tokens=3, cached_tokens=5)
    assert ask(serve(lambda _: said)) == [Reply("hi", usage=Usage(7, 3, 5, requests=1), model="m")]


def test_tools_and_schemas_are_sent_and_calls_come_back(serve: OpenServer) -> None:
    seen: list[ChatRequest] = []

    def script(request: ChatRequest) -> Said | str:
        seen.append(request)
        return call_tool("eval", code="1")

    tool = Tool("eval", "runs", {"type": "object"})
    [reply] = ask(serve(script), Request((Message("user", "x"),), (tool,), {"type": "object"}, 50))
    assert isinstance(reply, Reply)
    assert [(call.name, json.loads(call.arguments)) for call in reply.tool_calls] == [("eval", {"code": "1"})]
    assert seen[0].max_tokens == 50
    assert seen[0].tools == [
        {"type": "function", "function": {"name": "eval", "description": "runs", "parameters": {"type": "object"}}}
    ]
    assert seen[0].response_format is not None
    assert seen[0].response_format["json_schema"]["strict"] is False


FAULTS: list[tuple[Settings, Faults, str, bool]] = [
    (Settings(), Faults(1, ("429",)), "rate", True),
    (Settings(), Faults(1, ("500",)), "server", True),
    (Settings(), Faults(1, ("disconnect",)), "connection", True),
    (Settings(), Faults(1, ("cut",)), "connection", True),
    (Settings(), Faults(1, ("garbage",)), "response", True),
    (Settings(), Faults(1, ("hang",)), "timeout", True),
    (Settings(key="k"), Faults(), "key", False),
    (Settings(models=("other",)), Faults(), "model", False),
    (Settings(window=1), Faults(), "prompt", False),
]


@pytest.mark.parametrize(("settings", "faults", "fault", "retryable"), FAULTS, ids=[row[2] for row in FAULTS])
def test_every_way_to_fail_has_its_kind(
    serve: OpenServer, settings: Settings, faults: Faults, fault: str, retryable: bool
) -> None:
    [error] = ask(serve(lambda _: "hi", settings=settings, faults=faults), timeout_s=0.3)
    assert isinstance(error, ModelError)
    assert (error.fault, error.retryable) == (fault, retryable)
    assert "openai:m" in error.what


def test_a_slow_drip_is_read_to_its_end(serve: OpenServer) -> None:
    [reply] = ask(serve(lambda _: "all of it", faults=Faults(1, ("drip",))))
    assert isinstance(reply, Reply)
    assert reply.text == "all of it"


def test_retry_after_is_read(serve: OpenServer) -> None:
    [error] = ask(serve(lambda _: "hi", settings=Settings(retry_after=2.5), faults=Faults(1, ("429",))))
    assert isinstance(error, ModelError)
    assert error.retry_after == 2.5


def test_tools_that_are_refused_have_a_kind_of_their_own(serve: OpenServer) -> None:
    request = Request((Message("user", "x"),), (Tool("eval", "", {}),))
    [error] = ask(serve(lambda _: "hi", settings=Settings(without_tools=True)), request)
    assert isinstance(error, ModelError)
    assert error.fault == "tools"


def test_cancelling_aborts_the_request(serve: OpenServer) -> None:
    server = serve(lambda _: "hi", settings=Settings(latency=Latency(30)))

    async def main() -> None:
        model = ChatCompletions(name="openai:m", model="m", base_url=server.url, key="")
        task = asyncio.create_task(model.complete(Request((Message("user", "x"),)), 60))
        while not server.log:
            await asyncio.sleep(0.001)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        while server.log[0].end is None:
            await asyncio.sleep(0.001)
        await model.close()

    asyncio.run(asyncio.wait_for(main(), 10))
    assert server.log[0].fault == "client left"


@pytest.mark.parametrize(
    ("attempt", "retry_after", "jitter", "expected"),
    [
        (0, None, 0.5, 0.5),
        (3, None, 1.0, 8.0),
        (20, None, 1.0, 60.0),
        (0, 2.0, 0.0, 2.0),
        (0, 2.0, 1.0, 2.1),
        (9, 0.0, 1.0, 0.0),
    ],
)
def test_waiting_before_trying_again(attempt: int, retry_after: float | None, jitter: float, expected: float) -> None:
    chance: Callable[[], float] = lambda: jitter  # noqa: E731 - a source of chance that is not
    assert wait_s(attempt, 1.0, retry_after, chance) == pytest.approx(expected)


def test_which_schemas_are_strict() -> None:
    closed = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert qualifies_as_strict(closed)
    assert qualifies_as_strict({"type": "array", "items": closed})
    assert not qualifies_as_strict(closed | {"required": []})
    assert not qualifies_as_strict({"type": "array", "items": {"type": "object"}})
