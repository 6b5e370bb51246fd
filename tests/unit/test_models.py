"""From names to models, and what the wire makes of answers."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from sonde.errors import ModelChoiceError, ModelError
from sonde.events import Usage
from sonde.models.chat_completions import ChatCompletions
from sonde.models.choose import read_choice
from sonde.models.faults import excerpt, fault_of, hidden
from sonde.models.protocol import Message, Reply, Request, Tool
from sonde.models.retry import wait_s
from sonde.models.strict import Taken, qualifies_as_strict
from sonde.testing.server import ChatRequest, Faults, FaultServer, Latency, Said, Settings, call_tool
from tests.conftest import OpenServer
from tests.loopback import Answer, serving


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
    (Settings(), Faults(1, ("503",)), "overload", True),
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


CLOSED: dict[str, Any] = {"type": "object", "properties": {"a": {}}, "required": ["a"], "additionalProperties": False}
TYPED = Request((Message("user", "x"),), schema=CLOSED, max_tokens=5)


def test_a_schema_is_left_out_where_it_is_not_taken_and_not_sent_again(serve: OpenServer) -> None:
    server = serve(lambda _: "hi", settings=Settings(without_schemas=True))
    first, second = ask(server, TYPED, TYPED)
    assert isinstance(first, Reply)
    assert isinstance(second, Reply)
    assert (first.usage.requests, second.usage.requests) == (2, 1)
    assert [entry.status for entry in server.log] == [400, 200, 200]


def test_only_the_schema_that_is_refused_is_left_out() -> None:
    taken = Taken()
    taken.learn(CLOSED, "Invalid schema for response_format 'answer': no such type")
    assert not taken(CLOSED)
    assert taken({"type": "array"})
    taken.learn(CLOSED, "The prompt is not polite")
    assert taken({"type": "array"})
    taken.learn(CLOSED, "This model does not support response format `json_schema`")
    assert not taken({"type": "array"})


def test_another_name_for_the_limit_of_a_reply(serve: OpenServer) -> None:
    seen: list[ChatRequest] = []

    def script(request: ChatRequest) -> str:
        seen.append(request)
        return "hi"

    server = serve(script, settings=Settings(completion_tokens=True, without_schemas=True))
    replies = ask(server, TYPED, TYPED)
    assert [reply.usage.requests for reply in replies if isinstance(reply, Reply)] == [3, 1]
    assert [(each.max_tokens, each.max_completion_tokens, each.response_format) for each in seen] == [
        (None, 5, None)
    ] * 2


def test_a_refusal_for_another_reason_is_not_tried_again(serve: OpenServer) -> None:
    server = serve(lambda _: "hi", settings=Settings(window=0))
    [error] = ask(server, TYPED)
    assert isinstance(error, ModelError)
    assert (error.fault, len(server.log)) == ("prompt", 1)


@pytest.mark.parametrize(
    ("figures", "usage"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_cache_hit_tokens": 3}, Usage(9, 4, 3, 0, 1)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "cache_read_input_tokens": 3}, Usage(9, 4, 3, 0, 1)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "cached_tokens": 3}, Usage(9, 4, 3, 0, 1)),
        ({"prompt_tokens": 9, "completion_tokens": 4, "prompt_tokens_details": None}, Usage(9, 4, 0, 0, 1)),
        (
            {"prompt_tokens": 9, "completion_tokens": 6, "total_tokens": 15,
             "completion_tokens_details": {"reasoning_tokens": 5}},
            Usage(9, 6, 0, 5, 1),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 6, "total_tokens": 20,
             "completion_tokens_details": {"reasoning_tokens": 5}},
            Usage(9, 11, 0, 5, 1),
        ),
        ({}, Usage(requests=1)),
    ],
)  # fmt: skip
def test_usage_as_providers_vary_it(serve: OpenServer, figures: dict[str, Any], usage: Usage) -> None:
    [reply] = ask(serve(lambda _: Said("hi", figures=figures)))
    assert isinstance(reply, Reply)
    assert reply.usage == usage


@pytest.mark.parametrize(
    ("status", "told", "fault"),
    [
        (429, "insufficient_quota You exceeded your current quota", "quota"),
        (402, "Insufficient credits", "quota"),
        (400, "billing_hard_limit_reached", "quota"),
        (429, "Rate limit reached", "rate"),
        (429, "engine_overloaded_error", "overload"),
        (529, "", "overload"),
        (503, "", "overload"),
        (500, "The engine is currently overloaded", "overload"),
        (502, "bad gateway", "server"),
        (400, "the request exceeds the available context size", "prompt"),
        (413, "", "prompt"),
        (404, "No endpoints found that support tool use", "tools"),
        (400, '"auto" tool choice requires --enable-auto-tool-choice', "tools"),
        (404, "The model does not exist", "model"),
        (403, "", "key"),
        (422, "", "refused"),
    ],
)
def test_what_a_refusal_means(status: int, told: str, fault: str) -> None:
    assert fault_of(status, told) == fault
    assert ModelError(fault_of(status, told), "").retryable == (fault in {"rate", "overload", "server"})


def test_a_quota_that_is_used_up(serve: OpenServer) -> None:
    server = serve(lambda _: "hi", settings=Settings(quota=1))
    fine, error = ask(server, *[Request((Message("user", "x"),))] * 2)
    assert isinstance(fine, Reply)
    assert isinstance(error, ModelError)
    assert error.fault == "quota"
    assert "resume" in error.remedy


def test_a_fault_that_comes_with_a_good_status() -> None:
    async def main() -> None:
        answer = Answer({"error": {"code": 429, "message": "slow down"}})
        async with serving(lambda _: answer) as server:
            model = ChatCompletions(name="openai:m", model="m", base_url=server.url, key="")
            with pytest.raises(ModelError) as caught:
                await model.complete(Request((Message("user", "x"),)), 5)
            assert (caught.value.fault, "slow down" in caught.value.what) == ("rate", True)
            await model.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    ("settings", "faults"),
    [
        (Settings(key="other", echo_key=True), Faults()),
        (Settings(echo_key=True), Faults(1, ("429",))),
        (Settings(echo_key=True), Faults(1, ("garbage",))),
    ],
)
def test_no_error_repeats_the_key(serve: OpenServer, settings: Settings, faults: Faults) -> None:
    [error] = ask(serve(lambda _: "hi", settings=settings, faults=faults), key="sk-canary-key")
    assert isinstance(error, ModelError)
    assert "[key]" in error.what, "the server did repeat it"
    assert "canary" not in f"{error} {error.args} {error.__cause__!r}"


def test_a_key_is_hidden_before_what_surrounds_it_is_cut() -> None:
    assert excerpt("x" * 295 + "sk-canary-key", "sk-canary-key") == "x" * 295 + "[key]"
    assert excerpt(b"a \n b\xff", "") == "a b\ufffd"
    assert hidden("a test, just a test", "test") == "a test, just a test", "too short to be a secret"


def test_what_cannot_be_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in ("sk\nX-Header: y", "clé"):
        monkeypatch.setenv("MINE", content)
        with pytest.raises(ModelChoiceError, match="MINE holds is not a key") as caught:
            read_choice("openai:x", "MINE")
        assert content not in str(caught.value)


def test_an_address_that_holds_a_secret_is_refused_without_repeating_it() -> None:
    for address in ("http://user:canary@h/v1", "https://h/v1?key=canary", "https://h/v1#canary"):
        with pytest.raises(ModelChoiceError) as caught:
            read_choice(f"acme:x@{address}")
        assert "canary" not in str(caught.value)
