"""How a user writes a model: `provider:name[@base_url]`. The providers, and where they are found."""

import ipaddress
import os
import re
from urllib.parse import urlsplit

import msgspec

from sonde.errors import ModelChoiceError

_CHOICE = re.compile(r"(?P<provider>[a-z][a-z0-9_-]*):(?P<name>.+?)(?:@(?P<url>https?://.+))?", re.DOTALL)
_EXAMPLES = "openai:gpt-5.5, anthropic:claude-sonnet-5, ollama:qwen3-coder, or openai:NAME@http://127.0.0.1:8000/v1"


class Provider(msgspec.Struct, frozen=True):
    """Where a provider is found, and which environment variables hold its key and another address."""

    base_url: str = ""
    key_env: str = ""
    url_env: str = ""
    older_key_env: str = ""


PROVIDERS: dict[str, Provider] = {
    "openai": Provider("https://api.openai.com/v1", "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "openrouter": Provider("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "ollama": Provider("http://127.0.0.1:11434/v1", "", "OLLAMA_BASE_URL"),
    "vllm": Provider("", "VLLM_API_KEY", "VLLM_BASE_URL"),
    "cerebras": Provider("https://api.cerebras.ai/v1", "CEREBRAS_API_KEY"),
    "deepseek": Provider("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "fireworks": Provider("https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY"),
    "groq": Provider("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": Provider("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "moonshotai": Provider("https://api.moonshot.ai/v1", "MOONSHOTAI_API_KEY"),
    "together": Provider("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "xai": Provider("https://api.x.ai/v1", "XAI_API_KEY"),
}
"""All that speak the chat-completions wire."""

OTHERS: dict[str, Provider] = {
    "anthropic": Provider("", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "google": Provider("", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_API_KEY"),
    "bedrock": Provider("", "", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME"),
}
"""Those with a wire of their own, through the extra `providers`. Bedrock finds its keys as all of AWS does."""


class Choice(msgspec.Struct, frozen=True):
    """A model's name taken apart. The key itself is in `key`, and nowhere else."""

    text: str
    provider: str
    name: str
    base_url: str = ""
    key: str = ""

    def __repr__(self) -> str:
        return f"Choice({self.text!r})"


def take_apart(text: str) -> Choice:
    """Take a model's name apart, without its key. Raises `ModelChoiceError`."""
    match = _CHOICE.fullmatch(text)
    if match is None:
        raise ModelChoiceError(f"{text!r} is not a model", f"Write PROVIDER:NAME, such as {_EXAMPLES}.")
    provider = provider_of(match["provider"])
    base_url = match["url"] or os.environ.get(provider.url_env, "") or provider.base_url
    if base_url:
        _check_url(base_url, match["provider"])
    return Choice(text, match["provider"], match["name"], base_url)


def provider_of(name: str) -> Provider:
    """Return what is known of a provider, which may be nothing."""
    return PROVIDERS.get(name) or OTHERS.get(name) or Provider()


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _check_url(base_url: str, provider: str) -> None:
    parts = urlsplit(base_url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ModelChoiceError(
            f"the address of {provider} holds a user name, a password or a query",
            "Put the key in an environment variable and name it with --key-env.",
        )
    if not parts.hostname:
        raise ModelChoiceError(f"{base_url!r} is not an address", "Write http://HOST:PORT/v1.")
