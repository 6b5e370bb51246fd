"""Providers with a wire of their own, each against a server on loopback that speaks it."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from sonde.errors import ModelChoiceError, ModelError
from sonde.events import Usage
from sonde.models.choose import choose, read_choice
from sonde.models.names import take_apart
from sonde.models.protocol import Message, Model, Reply, Request, Tool, ToolCall
from sonde.models.pydantic_ai import ProviderModel
from tests.cli import Cli
from tests.loopback import NEVER, Answer, Asked, Server, serving

CLOSED: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "string"}},
    "required": ["a"],
    "additionalProperties": False,
}
HELLO = Request((Message("user", "hello"),))
EVAL = Tool("eval", "runs code", {"type": "object", "properties": {"code": {"type": "string"}}})
TALK = Request(
    (
        Message("system", "be brief"),
        Message("user", "go"),
        Message("assistant", "", (ToolCall("c1", "eval", '{"code":"1"}'), ToolCall("c2", "eval", '{"code":"2"}'))),
        Message("tool", "one", tool_call_id="c1"),
        Message("tool", "two", tool_call_id="c2"),
    ),
    (EVAL,),
    max_tokens=50,
)


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "GOOGLE_API_KEY", "GEMINI_API_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAX")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "aws-secret")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")


def claude(*content: dict[str, Any], stop: str = "end_turn") -> Answer:
    usage = {"input_tokens": 7, "output_tokens": 3, "cache_read_input_tokens": 2}
    message = {"id": "m", "type": "message", "role": "assistant", "model": "claude-x", "usage": usage}
    return Answer({**message, "content": content or [{"type": "text", "text": "hi"}], "stop_reason": stop})


def gemini(*parts: dict[str, Any], stop: str = "STOP") -> Answer:
    used = {"promptTokenCount": 7, "candidatesTokenCount": 3, "thoughtsTokenCount": 4, "cachedContentTokenCount": 2}
    content = {"role": "model", "parts": parts or [{"text": "hi"}]}
    return Answer({"candidates": [{"content": content, "finishReason": stop}], "usageMetadata": used})


def nova(*content: dict[str, Any], stop: str = "end_turn") -> Answer:
    message = {"role": "assistant", "content": content or [{"text": "hi"}]}
    used = {"inputTokens": 7, "outputTokens": 3, "totalTokens": 10}
    return Answer({"output": {"message": message}, "stopReason": stop, "usage": used, "metrics": {"latencyMs": 1}})


async def outcome_of(model: Model, request: Request, timeout_s: float) -> Reply | ModelError:
    try:
        return await model.complete(request, timeout_s)
    except ModelError as error:
        return error


def ask(
    name: str, script: Callable[[Asked], Answer], *requests: Request, timeout_s: float = 5
) -> tuple[list[Reply | ModelError], list[Asked]]:
    """Send requests to a model at a server that answers so, and return what came of them and what was asked."""

    async def main() -> tuple[list[Reply | ModelError], list[Asked]]:
        async with serving(script) as server:
            model = choose(f"{name}@{server.url}")
            try:
                outcomes = [await outcome_of(model, request, timeout_s) for request in requests or (HELLO,)]
            finally:
                await model.close()
            return outcomes, server.asked

    return asyncio.run(main())


def test_anthropic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-canary")
    used = {"type": "tool_use", "id": "c3", "name": "eval", "input": {"code": "3"}}
    [reply], [asked] = ask("anthropic:some", lambda _: claude(used, stop="tool_use"), TALK)
    assert reply == Reply("", (ToolCall("c3", "eval", '{"code":"3"}'),), Usage(9, 3, 2, 0, 1), "tools", "claude-x")
    assert asked.path == "/v1/messages"
    assert "sk-ant-canary" in str(asked.headers)
    assert (asked.body["model"], asked.body["max_tokens"], asked.body["system"]) == ("some", 50, "be brief")
    assert [message["role"] for message in asked.body["messages"]] == ["user", "assistant", "user"]
    assert [part["input"] for part in asked.body["messages"][1]["content"]] == [{"code": "1"}, {"code": "2"}]
    answers = asked.body["messages"][2]["content"]
    assert [(part["tool_use_id"], part["content"][0]["text"]) for part in answers] == [("c1", "one"), ("c2", "two")]
    assert [(tool["name"], tool["input_schema"]) for tool in asked.body["tools"]] == [("eval", EVAL.parameters)]


def test_anthropic_streams_what_may_be_long() -> None:
    whole = claude().body
    assert isinstance(whole, dict)
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": {**whole, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "cut he"}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}, "usage": {"output_tokens": 8}},
        {"type": "message_stop"},
    ]
    stream = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events).encode()
    [reply], [asked] = ask("anthropic:claude-haiku-4-5", lambda _: Answer(stream))
    assert asked.body["stream"]
    assert reply == Reply("cut he", usage=Usage(9, 8, 2, 0, 1), finish="length", model="claude-x")


def test_google() -> None:
    used = {"functionCall": {"id": "c3", "name": "eval", "args": {"code": "3"}}}
    [reply], [asked] = ask("google:gemini-2.5-flash", lambda _: gemini(used), TALK)
    assert isinstance(reply, Reply)
    assert reply.tool_calls == (ToolCall("c3", "eval", '{"code":"3"}'),)
    assert reply.usage == Usage(7, 7, 2, 4, 1)
    assert asked.path.endswith("/models/gemini-2.5-flash:generateContent")
    assert asked.body["generationConfig"]["maxOutputTokens"] == 50
    assert [content["role"] for content in asked.body["contents"]] == ["user", "model", "user"]
    assert "be brief" in str(asked.body["systemInstruction"])


def test_bedrock() -> None:
    used = {"toolUse": {"toolUseId": "c3", "name": "eval", "input": {"code": "3"}}}
    [reply], [asked] = ask("bedrock:amazon.nova-lite-v1:0", lambda _: nova(used, stop="tool_use"), TALK)
    assert isinstance(reply, Reply)
    assert (reply.tool_calls, reply.usage, reply.finish) == (
        (ToolCall("c3", "eval", '{"code":"3"}'),), Usage(7, 3, 0, 0, 1), "tools",
    )  # fmt: skip
    assert asked.path == "/model/amazon.nova-lite-v1%3A0/converse"
    assert asked.body["inferenceConfig"] == {"maxTokens": 50}
    assert "aws-secret" not in str(asked)


@pytest.mark.parametrize(
    ("name", "script", "where"),
    [
        ("anthropic:claude-haiku-4-5", claude, "output_config"),
        ("google:gemini-2.5-flash", gemini, "responseJsonSchema"),
    ],
)
def test_a_schema_is_sent_where_it_can_be_kept(name: str, script: Callable[[], Answer], where: str) -> None:
    typed = Request(HELLO.messages, schema=CLOSED, max_tokens=9)
    open_ended = Request(HELLO.messages, schema={"type": "object"}, max_tokens=9)
    _, (first, second) = ask(name, lambda _: script(), typed, open_ended)
    assert where in str(first.body)
    assert where not in str(second.body), "it would mean something else, made to qualify"


def test_a_schema_that_is_refused_is_left_out_and_not_sent_again() -> None:
    def script(asked: Asked) -> Answer:
        if "output_config" in asked.body:
            error = {"type": "invalid_request_error", "message": "output_config.format: not supported"}
            return Answer({"type": "error", "error": error}, 400)
        return claude()

    typed = Request(HELLO.messages, schema=CLOSED, max_tokens=9)
    replies, asked = ask("anthropic:claude-haiku-4-5", script, typed, typed)
    assert [reply.usage.requests for reply in replies if isinstance(reply, Reply)] == [2, 1]
    assert ["output_config" in each.body for each in asked] == [True, False, False]


def failure(status: int, kind: str, message: str, *headers: str) -> Answer:
    return Answer({"type": "error", "error": {"type": kind, "message": message}}, status, headers)


FAILURES = [
    (failure(401, "authentication_error", "bad key sk-ant-canary"), "key"),
    (failure(400, "invalid_request_error", "Your credit balance is too low"), "quota"),
    (failure(429, "rate_limit_error", "slow down", "Retry-After: 7"), "rate"),
    (failure(529, "overloaded_error", "Overloaded"), "overload"),
    (failure(503, "api_error", "down"), "overload"),
    (failure(500, "api_error", "broke"), "server"),
    (failure(400, "invalid_request_error", "prompt is too long: 9 tokens > 8"), "prompt"),
    (failure(404, "not_found_error", "model: some"), "model"),
    (failure(400, "invalid_request_error", "tools: not supported"), "tools"),
    (failure(400, "invalid_request_error", "no"), "refused"),
    (Answer(None), "connection"),
    (NEVER, "timeout"),
]


@pytest.mark.parametrize(("answer", "fault"), FAILURES, ids=[row[1] for row in FAILURES])
def test_every_failure_has_its_kind_and_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch, answer: Answer, fault: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-canary")
    [error], asked = ask("anthropic:some", lambda _: answer, timeout_s=0.5)
    assert isinstance(error, ModelError)
    assert error.fault == fault, error
    assert error.what.startswith("anthropic:some") or fault == "connection"
    assert error.retry_after == (7 if fault == "rate" else None)
    assert "canary" not in str(error)
    assert (error.__cause__, error.__suppress_context__) == (None, True), "a cause would tell what the server said"
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("name", "answer", "fault"),
    [
        ("google:gemini-2.5-flash", Answer({"error": {"code": 429, "message": "m", "status": "X"}}, 429), "rate"),
        ("google:gemini-2.5-flash", Answer({"error": {"code": 503, "message": "m", "status": "X"}}, 503), "overload"),
        ("google:gemini-2.5-flash", Answer(None), "connection"),
        ("bedrock:amazon.nova-lite-v1:0", Answer({"message": "m"}, 429), "rate"),
        ("bedrock:amazon.nova-lite-v1:0", Answer({"message": "m"}, 500), "server"),
        ("bedrock:amazon.nova-lite-v1:0", Answer(None), "connection"),
    ],
)
def test_failures_of_others(name: str, answer: Answer, fault: str) -> None:
    [error], asked = ask(name, lambda _: answer)
    assert isinstance(error, ModelError)
    assert (error.fault, len(asked)) == (fault, 1), error


@pytest.mark.parametrize("name", ["anthropic:some", "google:gemini-2.5-flash", "bedrock:amazon.nova-lite-v1:0"])
def test_nobody_at_the_address(name: str) -> None:
    async def main() -> None:
        model = choose(f"{name}@http://127.0.0.1:9")
        error = await outcome_of(model, HELLO, 5)
        assert isinstance(error, ModelError)
        assert error.fault in {"unreachable", "connection"}
        assert "127.0.0.1:9" in error.what
        await model.close()

    asyncio.run(main())


@pytest.mark.parametrize("name", ["anthropic:some", "google:gemini-2.5-flash"])
def test_cancelling_aborts_the_request(name: str) -> None:
    async def main() -> None:
        async with serving(lambda _: NEVER) as server:
            model = choose(f"{name}@{server.url}")
            task = asyncio.create_task(model.complete(HELLO, 60))
            await asked_once(server)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.left.wait()
            await model.close()

    asyncio.run(asyncio.wait_for(main(), 10))


def test_a_cancelled_bedrock_request_does_not_outlive_the_process() -> None:
    """boto3 cannot be interrupted, but the thread in which it waits ends with the process."""

    async def main() -> None:
        async with serving(lambda _: NEVER) as server:
            model = choose(f"bedrock:amazon.nova-lite-v1:0@{server.url}")
            task = asyncio.create_task(model.complete(HELLO, 60))
            await asked_once(server)
            waiting = [thread for thread in threading.enumerate() if "worker" in thread.name]
            assert waiting
            assert all(thread.daemon for thread in waiting)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await model.close()

    asyncio.run(asyncio.wait_for(main(), 10))


async def asked_once(server: Server) -> None:
    while not server.asked:
        await asyncio.sleep(0.001)


def test_what_a_response_holds_beside_its_text() -> None:
    def answer(_messages: list[ModelMessage], _info: AgentInfo) -> ModelResponse:
        parts = [ThinkingPart("hm"), TextPart("a"), TextPart("b"), ToolCallPart("eval", {"code": "1"}, "c")]
        used = RequestUsage(input_tokens=5, output_tokens=4, cache_read_tokens=3, output_reasoning_tokens=2)
        return ModelResponse(parts, usage=used, finish_reason="content_filter")

    model = ProviderModel(take_apart("anthropic:x"), FunctionModel(answer))
    reply = asyncio.run(model.complete(HELLO, 5))
    assert (reply.text, reply.finish) == ("ab", "filter")
    assert reply.tool_calls == (ToolCall("c", "eval", '{"code":"1"}'),)
    assert reply.usage.cached_tokens == 3
    assert reply.usage.reasoning_tokens == 2


def test_keys_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelChoiceError, match="ANTHROPIC_API_KEY"):
        read_choice("anthropic:x")
    with pytest.raises(ModelChoiceError, match="GOOGLE_API_KEY"):
        read_choice("google:x")
    monkeypatch.setenv("GEMINI_API_KEY", "older")
    assert read_choice("google:x").key == "older"
    monkeypatch.setenv("MINE", "mine")
    assert read_choice("anthropic:x", "MINE").key == "mine"
    assert "mine" not in repr(read_choice("anthropic:x", "MINE"))
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with pytest.raises(ModelChoiceError, match="region"):
        read_choice("bedrock:x")


def test_packages_that_are_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelChoiceError, match="pip install"):
        read_choice("cohere:x")
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    with pytest.raises(ModelChoiceError, match=r"pip install 'sonde\[providers\]'"):
        read_choice("anthropic:x")
    with pytest.raises(ModelChoiceError, match="unknown provider"):
        read_choice("cohere:x")


def test_nothing_is_loaded_before_it_is_used() -> None:
    code = """
import sys
import sonde
from sonde.models.choose import choose
from sonde.models.prices import Price
choose("openai:x@http://127.0.0.1:9/v1")
print([name for name in ("pydantic_ai", "anthropic", "boto3", "google.genai", "genai_prices") if name in sys.modules])
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert process.stdout.strip() == "[]"


def test_a_whole_run(cli: Cli) -> None:
    def script(asked: Asked) -> Answer:
        if "system" not in asked.body:
            return claude({"type": "text", "text": "5"})
        code = "FINAL(int(await llm('2 + 3?')))"
        return claude({"type": "tool_use", "id": "c", "name": "eval", "input": {"code": code}}, stop="tool_use")

    async def main() -> None:
        async with serving(script) as server:
            model = f"anthropic:some@{server.url}"
            outcome = await asyncio.to_thread(cli, "ask", "How many?", "--model", model, "--json", "--quiet")
            assert outcome.code == 0, outcome.stderr
            assert outcome.json["answer"] == 5
            assert outcome.json["usage"]["input_tokens"] == 9 + 9

    asyncio.run(main())
