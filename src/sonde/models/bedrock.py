"""Bedrock's client: AWS's own keys and regions, no retries of its own, and requests that do not outlive the process."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, cast

import boto3
from botocore.config import Config
from pydantic_ai.providers.bedrock import BedrockProvider

_LONGEST_S = 3600  # how long a request may take is decided above
_CONNECT_S = 10
_CONNECTIONS = 64


def provider(base_url: str) -> BedrockProvider:
    """Return the provider at an address, or where the region is. Raises what boto3 raises."""
    once = Config(
        retries={"total_max_attempts": 1},
        read_timeout=_LONGEST_S,
        connect_timeout=_CONNECT_S,
        max_pool_connections=_CONNECTIONS,
    )
    client = cast("Any", boto3).client("bedrock-runtime", config=once, endpoint_url=base_url or None)
    return BedrockProvider(bedrock_client=client)


class Apart:
    """Runs requests on an event loop of their own, in a thread that ends with the process.

    boto3 waits for answers in threads that nothing can interrupt. Those are started from here, so they end with the
    process as well: one that was cancelled would hold up its end otherwise.
    """

    def __init__(self, request: Callable[..., Coroutine[Any, Any, Any]]) -> None:
        self._request = request
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="bedrock", daemon=True)

    def __call__(self, *arguments: Any) -> Awaitable[Any]:
        """Send a request."""
        if not self._thread.is_alive():
            self._thread.start()
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._request(*arguments), self._loop))

    def close(self) -> None:
        """End the loop."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        self._loop.close()
