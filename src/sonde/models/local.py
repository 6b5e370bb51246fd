"""Models embedded in this process: a GGUF file, run by llama.cpp through the package xllamacpp.

That package is a server and always listens. Here it listens on a socket file in a folder that nobody else can enter,
and as soon as it is up that socket is shut for good. Requests are handed to it by a call.
"""

import asyncio
import mmap
import os
import secrets
import socket
import stat
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, NamedTuple, Protocol, cast

import msgspec

from sonde import jsontext
from sonde.errors import ModelChoiceError, ModelError
from sonde.events import Usage
from sonde.models import weights
from sonde.models.names import Choice
from sonde.models.protocol import BEGIN_LOCAL_WITH, Finish, Reply, Request

_ENGINE = "xllamacpp"
_BATCH = 128  # how many tokens of a prompt are read before the engine asks whether to go on
_MOST_TOKENS = 1024  # a small model may never come to an end by itself
_LONGEST_FOLDER = 60  # the path of a socket has some 100 bytes at most

# What a small model does best is to go on with a text: so the prompt is not made into a conversation.
_PLAIN = "{% for message in messages %}{{ '' if loop.first else '\n\n' }}{{ message['content'] }}{% endfor %}"
_END_OF_PLAIN = "\n\n"


class Settings(NamedTuple):
    """What the environment can change."""

    threads: int
    window: int

    @classmethod
    def from_environment(cls) -> "Settings":
        """Read them. Raises `ModelChoiceError`."""
        # One thread: several spin while they wait for each other, and collapse where others use the processor too.
        return cls(_whole("SONDE_LOCAL_THREADS", 1), _whole("SONDE_LOCAL_WINDOW", 8192))


class _Server(Protocol):
    def handle_chat_completions(self, prompt: bytes, callback: Callable[[bytes], bool]) -> None: ...


class _Delta(msgspec.Struct):
    content: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta = msgspec.field(default_factory=_Delta)
    finish_reason: str | None = None


class _PromptDetails(msgspec.Struct):
    cached_tokens: int = 0


class _Usage(msgspec.Struct):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    prompt_tokens_details: _PromptDetails = msgspec.field(default_factory=_PromptDetails)


class _Fault(msgspec.Struct):
    message: str = ""
    type: str = ""
    code: int = 500
    n_prompt_tokens: int = 0
    n_ctx: int = 0


class _Chunk(msgspec.Struct):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: _Fault | None = None


class _Answer:
    """Takes what the engine says, and tells it when nobody wants to hear more."""

    def __init__(self, timeout_s: float) -> None:
        self.chunks: list[bytes] = []
        self.unwanted = False
        self.timeout_s = timeout_s
        self._began = 0.0

    def begin(self) -> None:
        """Start the clock: time in our own queue is not the engine's."""
        self._began = time.monotonic()

    @property
    def late(self) -> bool:
        """Whether it has taken too long."""
        return time.monotonic() - self._began > self.timeout_s

    def take(self, chunk: bytes) -> bool:
        """Keep a chunk, and return whether the engine is to stop."""
        self.chunks.append(chunk)
        return self.unwanted or self.late


class LocalModel:
    """A model in this process. It answers one request at a time, with the words most likely; the others wait in order.

    Cancelling and time limits take effect between two words, and every 128 tokens while a prompt is read. Loading
    cannot be cut short, and holds up the whole process while it lasts.
    """

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self._path = weights.find(choice.name)
        self._settings = Settings.from_environment()
        self._plain = choice.name in weights.KNOWN or not _converses(self._path)
        self._thread = ThreadPoolExecutor(1, "sonde-local")
        self._server: _Server | None = None

    @property
    def name(self) -> str:
        """The model as the user named it."""
        return self._choice.text

    @property
    def endpoint(self) -> str:
        """Its name again: it shares a limit with nobody."""
        return self._choice.text

    @property
    def begins_with(self) -> int:
        """One that is answered, and one that waits."""
        return BEGIN_LOCAL_WITH

    async def complete(self, request: Request, timeout_s: float) -> Reply:
        """Answer one request. Raises `ModelError`."""
        if request.tools:
            raise ModelError("tools", f"{self.name} cannot call tools")
        answer = _Answer(timeout_s)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._ask, request, answer)
        finally:
            answer.unwanted = True

    async def close(self) -> None:
        """Let go of the memory, once the engine has stopped."""
        await asyncio.to_thread(self._thread.shutdown, wait=True, cancel_futures=True)
        self._server = None

    def _ask(self, request: Request, answer: _Answer) -> Reply:
        if self._server is None:
            self._server = _open(self._path, self._settings, plain=self._plain)
        answer.begin()
        try:
            self._server.handle_chat_completions(self._encode(request), answer.take)
        except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
            what = f"{self.name} cannot take this request: {' '.join(str(error).split())}"
            raise ModelError("refused", what, "Change its schema or its messages.") from error
        return self._decode(answer)

    def _encode(self, request: Request) -> bytes:
        payload: dict[str, Any] = {
            "messages": [{"role": message.role, "content": message.text} for message in request.messages],
            "max_tokens": request.max_tokens or _MOST_TOKENS,
            "temperature": 0,
            "seed": 1,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,  # so that it can be stopped while it reads a prompt
        }
        if request.schema is not None:
            payload["response_format"] = {"type": "json_schema", "json_schema": {"schema": request.schema}}
        elif self._plain:
            payload["stop"] = [_END_OF_PLAIN]
        return jsontext.encode_valid(payload)

    def _decode(self, answer: _Answer) -> Reply:
        words: list[str] = []
        finish: str | None = None
        usage = _Usage()
        for chunk in map(self._read, answer.chunks):
            if chunk.error is not None:
                raise self._fault(chunk.error)
            for choice in chunk.choices:
                words.append(choice.delta.content or "")
                finish = choice.finish_reason or finish
            usage = chunk.usage or usage
        if finish is None:
            raise self._unfinished(answer)
        text = "".join(words)
        ended: Finish = "length" if finish == "length" else "stop"
        return Reply(text.strip() if self._plain else text, (), _told(usage), ended, self._choice.name)

    def _read(self, chunk: bytes) -> _Chunk:
        try:
            return jsontext.decode(chunk, _Chunk)
        except msgspec.DecodeError as error:
            raise ModelError("response", f"{self.name} said what cannot be read: {chunk[:300]!r}") from error

    def _unfinished(self, answer: _Answer) -> ModelError:
        if answer.late:
            what = f"{self.name} did not answer within {answer.timeout_s:g} s"
            return ModelError("timeout", what, "Allow more with --call-timeout.")
        return ModelError("response", f"{self.name} broke off its answer")

    def _fault(self, fault: _Fault) -> ModelError:
        if fault.type == "exceed_context_size_error":
            what = f"the prompt has {fault.n_prompt_tokens:,} tokens, and {self.name} takes {fault.n_ctx:,}"
            return ModelError("prompt", what, "Send less in one prompt, or set SONDE_LOCAL_WINDOW.")
        return ModelError("server" if fault.code >= 500 else "refused", f"{self.name} failed: {fault.message}")


def check(choice: Choice) -> None:
    """Raise `ModelChoiceError` if a model cannot be embedded here."""
    if find_spec(_ENGINE) is None:
        what = f"{choice.text!r} needs a package that is not installed"
        raise ModelChoiceError(what, "Install it: pip install 'sonde[local]'.")
    weights.find(choice.name)
    Settings.from_environment()


def make(choice: Choice) -> LocalModel:
    """Return the model; it is loaded with its first request. Raises `ModelChoiceError`."""
    check(choice)
    return LocalModel(choice)


def _whole(variable: str, usual: int) -> int:
    text = os.environ.get(variable, "").strip() or str(usual)
    if not text.isdecimal() or int(text) < 1:
        raise ModelChoiceError(f"{variable} is {text!r}", "Set it to a whole number above 0.")
    return int(text)


def _converses(path: Path) -> bool:
    """Whether weights carry a template for conversations; those of a base model do not."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(b"tokenizer.chat_template", 0, 1 << 26) >= 0


def _told(usage: _Usage) -> Usage:
    return Usage(usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details.cached_tokens, requests=1)


def _open(path: Path, settings: Settings, *, plain: bool) -> _Server:
    """Load weights. Raises `ModelError`."""
    engine = cast("Any", import_module(_ENGINE))
    where = gettempdir()
    with TemporaryDirectory(prefix="sonde-", dir=where if len(where) <= _LONGEST_FOLDER else "/tmp") as folder:
        ear = f"{folder}/engine.sock"
        parameters = _parameters(engine.CommonParams(), path, settings)
        parameters.hostnames, parameters.api_keys = [ear], [secrets.token_hex()]
        if plain:
            parameters.chat_template = _PLAIN
        try:
            server = cast("_Server", engine.Server(parameters))
        except RuntimeError as error:
            what = f"the weights {path} cannot be loaded"
            raise ModelError("model", what, "Check that they are whole, and that they fit into the memory.") from error
        if not _deafen(ear):
            raise ModelError("model", f"this version of {_ENGINE} opens a port", "Install another: sonde[local].")
    return server


def _parameters(parameters: Any, path: Path, settings: Settings) -> Any:
    parameters.model.path = str(path)
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = settings.threads
    parameters.n_ctx, parameters.n_parallel = settings.window, 1
    parameters.n_batch = parameters.n_ubatch = _BATCH
    parameters.fit_params = parameters.warmup = False
    parameters.cache_ram_mib = 0
    parameters.n_threads_http = 1
    parameters.verbosity = -1
    return parameters


def _deafen(ear: str) -> bool:
    """Shut the socket that listens at a path, and return whether there was one."""
    for entry in Path("/dev/fd").iterdir():
        with suppress(OSError):  # others open and close files meanwhile
            if not stat.S_ISSOCK(os.fstat(int(entry.name)).st_mode):
                continue
            with socket.socket(fileno=os.dup(int(entry.name))) as found:
                if found.getsockname() == ear:
                    found.shutdown(socket.SHUT_RDWR)
                    return True
    return False
