"""What models cost: known rows by hand, and nothing where nothing is known."""

import subprocess
import sys

import pytest

from sonde.errors import UsageError
from sonde.events import Usage
from sonde.models.prices import FREE, Price, price_of, prices_for, read_price

ONE = Usage(input_tokens=100_000, output_tokens=2_000, cached_tokens=40_000, requests=1)


@pytest.fixture(autouse=True)
def no_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "OLLAMA_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("name", "dollars"),
    [
        # 60,000 fresh at 2.50, 40,000 cached at 1.25 and 2,000 out at 10 dollars a million: 0.15 + 0.05 + 0.02
        ("openai:gpt-4o", 0.22),
        ("openai:any@https://api.openai.com/v1", None),
        ("openai:gpt-4o@https://api.openai.com/v1", 0.22),
        # 3.00, 0.30 and 15: 0.18 + 0.012 + 0.03
        ("anthropic:claude-sonnet-4-5", 0.222),
        # 1.25, 0.125 and 10, below its step at 200,000: 0.075 + 0.005 + 0.02
        ("google:gemini-2.5-pro", 0.1),
        # 1.00 + a tenth for a region, 0.11 and 5.50: 0.066 + 0.0044 + 0.011
        ("bedrock:us.anthropic.claude-haiku-4-5-20251001-v1:0", 0.0814),
        # 0.59 and 0.79, with nothing off for what is cached: 0.059 + 0.00158
        ("groq:llama-3.3-70b-versatile", 0.06058),
        ("deepseek:deepseek-chat@http://127.0.0.1:8000/v1", None),
        ("openai:gpt-4o@http://127.0.0.1:8000/v1", None),
        ("ollama:llama3.3", None),
        ("vllm:gpt-4o@http://host:8000/v1", None),
        ("openai:no-such-model", None),
        ("openai-like:gpt-4o", None),
        ("gpt-4o", None),
        ("local:smollm2", 0.0),
        ("replay:tape.jsonl", 0.0),
    ],
)
def test_known_rows_and_unknown_ones(name: str, dollars: float | None) -> None:
    price = price_of(name)
    if dollars is None:
        assert price is None
    else:
        assert price is not None
        assert price.cost(ONE) == pytest.approx(dollars, rel=1e-12)


def test_long_prompts_cost_more() -> None:
    """Beyond 200,000 tokens all of a request is charged at 2.50 and 15 dollars a million, what is cached at 0.25."""
    price = price_of("google:gemini-2.5-pro")
    assert price is not None
    assert price.cost(Usage(200_000, 1_000)) == pytest.approx(0.25 + 0.01)
    assert price.cost(Usage(200_001, 1_000)) == pytest.approx(0.5000025 + 0.015)
    assert price.cost(Usage(300_000, 0, 100_000)) == pytest.approx(0.5 + 0.025)


def test_another_address_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    assert price_of("openai:gpt-4o") is None


def test_a_price_that_is_given() -> None:
    price = Price.of_millions(*read_price("0.5, 1.5"))
    assert price.cost(ONE) == pytest.approx(0.05 + 0.003)
    look_up = prices_for((0.5, 1.5))
    assert look_up("openai:no-such-model") == price
    assert look_up("openai:gpt-4o") == price_of("openai:gpt-4o"), "what is known is not overruled"
    assert look_up("local:smollm2") == FREE
    assert prices_for(None)("openai:no-such-model") is None


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "1,inf", "nan,1", "1;2"])
def test_what_is_not_a_price(text: str) -> None:
    with pytest.raises(UsageError, match="is not a price"):
        read_price(text)


def test_more_cached_than_there_was() -> None:
    assert Price(1.0, 0.0, 0.5).cost(Usage(10, 0, 99)) == 5.0


def test_nothing_is_fetched() -> None:
    code = """
import sys
def watch(event, arguments):
    if event in {"socket.connect", "socket.getaddrinfo", "socket.sendto"}:
        raise SystemExit(f"went out: {event} {arguments}")
sys.addaudithook(watch)
from sonde.models.prices import price_of
assert price_of("openai:gpt-4o") is not None
assert price_of("openai:no-such-model") is None
import threading
print(threading.active_count())
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=30)
    assert process.stdout.strip() == "1", process.stderr
