"""Settings: what a file may say, and which one counts."""

import os
import re
import textwrap
from pathlib import Path

import pytest

from sonde.config.agents import read_agent
from sonde.config.amounts import read_size, read_span, size_text, span_text
from sonde.config.keys import ALIASES, KEYS
from sonde.config.resolve import Settings, resolve
from sonde.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder, with a home and an environment that say nothing."""
    for name in [name for name in os.environ if name.startswith("SONDE_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def users(folder: Path, text: str) -> Path:
    return write(folder.parent / "home/.config/sonde/sonde.toml", text)


def said(settings: Settings, name: str) -> tuple[object, str, str]:
    setting = settings.values[name]
    return setting.value, setting.source, setting.where


def refused(folder: Path, text: str, *words: str, name: str = "sonde.toml") -> None:
    path = write(folder / name, text)
    with pytest.raises(UsageError) as caught:
        resolve(folder)
    for word in (str(path), *words):
        assert word in str(caught.value), str(caught.value)


def test_each_source_beats_the_ones_below_it(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(resolve(folder), "max_calls") == (20_000, "default", "")
    own = users(folder, "max_calls = 1")
    assert said(resolve(folder), "max_calls") == (1, "file", f"{own}:max_calls")
    pyproject = write(folder / "pyproject.toml", "[tool.sonde]\nmax_calls = 2")
    assert said(resolve(folder), "max_calls") == (2, "file", f"{pyproject}:tool.sonde.max_calls")
    near = write(folder / "sonde.toml", "[rlm]\nmax_sub_calls = 3")
    assert said(resolve(folder), "max_calls") == (3, "file", f"{near}:rlm.max_sub_calls")
    assert said(resolve(folder, "multi-file"), "max_calls") == (50, "profile", "multi-file")
    monkeypatch.setenv("SONDE_MAX_CALLS", "5")
    assert said(resolve(folder, "multi-file"), "max_calls") == (5, "environment", "SONDE_MAX_CALLS")
    assert said(resolve(folder, "multi-file", {"max_calls": "6"}), "max_calls") == (6, "flag", "--max-calls")


def test_the_nearest_file_above_counts(folder: Path) -> None:
    write(folder / "sonde.toml", "max_turns = 1")
    inner = folder / "a/b"
    inner.mkdir(parents=True)
    assert resolve(inner).value("max_turns") == 1
    write(folder / "a/sonde.toml", "max_usd = 2")
    assert (resolve(inner).value("max_turns"), resolve(inner).value("max_usd")) == (100, 2)


def test_a_pyproject_without_our_table_is_passed_over(folder: Path) -> None:
    write(folder / "pyproject.toml", "[tool.sonde]\nmax_turns = 1")
    write(folder / "a/pyproject.toml", "[project]\nname = 'other'\n[tool]\n")
    write(folder / "a/b/pyproject.toml", "this is not TOML, and no business of ours")
    assert resolve(folder / "a/b").value("max_turns") == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_turn = 3", ["max_turn is not a setting", "max_turns"]),
        ("max-turns = 3", ["Did you mean max_turns"]),
        ("[rlm]\nmax_dept = 3", ["rlm.max_dept is not a setting", "rlm.max_depth"]),
        ("[zzz]\nx = 3", ["zzz is not a setting", "config show"]),
        ("max_turns = '3'", ["max_turns must be a whole number, at least 1, not '3'"]),
        ("max_turns = true", ["must be a whole number"]),
        ("max_turns = 0", ["at least 1"]),
        ("max_usd = nan", ["must be a number"]),
        ("max_usd = -1", ["at least 0"]),
        ("model = 3", ["a model, as PROVIDER:NAME"]),
        ("model = ''", ["a model"]),
        ("strict = 'yes'", ["true or false"]),
        ("also_model = 'a:b'", ["a list of models"]),
        ("max_depth = 6", ["at most 5, not 6"]),
        ("[rlm]\nmax_depth = 6", ["rlm.max_depth", "at most 5"]),
        ("[rlm]\nchunk_strategy = 'by_page'", ["one of auto, by_function, by_section, fixed_size"]),
        ("[gc]\nolder_than = 'soon'", ["gc.older_than must be a span of time"]),
        ("[gc]\nmax_size = '2 parsecs'", ["gc.max_size must be a size"]),
        ("max_depth = 2\n[rlm]\nmax_depth = 3", ["are the same setting", "Keep one"]),
        ("openai_api_key = 'x'", ["keys and passwords do not belong", "key_env"]),
        ("key = 'x'", ["do not belong"]),
        ("[rlm]\napi_key = 'x'", ["do not belong"]),
        ("interpreter_unconfined = true", ["may not be set in a folder's file"]),
        ("[profiles.x]\ninterpreter_unconfined = true", ["profiles.x.interpreter_unconfined"]),
        ("model = 'openai:x@https://elsewhere.example/v1'", ["sends data to another machine"]),
        ("[models]\nx = 'openai:x@http://10.0.0.1/v1'", ["models.x", "another machine"]),
        ("rlm = 3", ["rlm is not a setting"]),
        ("profiles = 3", ["must be a table"]),
        ("price = [1]", ["two prices"]),
        ("price = 'cheap'", ["two prices"]),
        ("max_turns = ", ["is not TOML"]),
        ("a = " + "[" * 5000, [""]),
    ],
)
def test_what_a_file_may_not_say(folder: Path, text: str, words: list[str]) -> None:
    refused(folder, text, *words)


def test_the_same_holds_in_pyproject(folder: Path) -> None:
    refused(folder, "[tool.sonde]\nmax_turn = 3", "tool.sonde.max_turn", "max_turns", name="pyproject.toml")
    refused(folder, "[tool]\nsonde = 3", "must be a table", name="pyproject.toml")


def test_bytes_that_are_not_text(folder: Path) -> None:
    (folder / "sonde.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="is not TOML"):
        resolve(folder)


def test_a_file_of_ones_own_may_say_more(folder: Path) -> None:
    users(folder, "interpreter_unconfined = true\nmodel = 'openai:x@https://elsewhere.example/v1'")
    assert resolve(folder).value("interpreter_unconfined") is True
    assert resolve(folder).value("model") == "openai:x@https://elsewhere.example/v1"


def test_models_have_names_of_ones_own(folder: Path) -> None:
    users(folder, "[models]\nteam = 'vllm:qwen@http://models.example:8000/v1'")
    write(folder / "sonde.toml", "model = 'team'\nalso_model = ['team', 'ollama:a']")
    settings = resolve(folder)
    assert settings.value("model") == "vllm:qwen@http://models.example:8000/v1"
    assert settings.value("also_model") == ["vllm:qwen@http://models.example:8000/v1", "ollama:a"]
    assert settings.model_names() == {"team": "vllm:qwen@http://models.example:8000/v1"}


def test_paths_are_those_of_the_file(folder: Path) -> None:
    write(folder / "sonde.toml", "runs_dir = 'runs'\nschema = '/x/schema.json'")
    (folder / "inner").mkdir()
    assert resolve(folder).value("runs_dir") == "runs"
    os.chdir(folder / "inner")
    assert resolve(folder / "inner").value("runs_dir") == str(folder / "runs")
    assert resolve(folder / "inner").value("schema") == "/x/schema.json"


@pytest.mark.parametrize(
    ("profile", "values"),
    [
        ("large-file", {"rlm.chunk_strategy": "by_function", "max_depth": 2}),
        ("multi-file", {"rlm.parallel_sub_calls": True, "max_calls": 50}),
        ("corpus", {"max_depth": 3, "rlm.cache_intermediate": True}),
        ("refactor", {"rlm.chunk_strategy": "auto", "rlm.cost_tracking": True}),
        ("rlm-agent", {"max_calls": 20, "max_depth": 5}),
    ],
)
def test_the_profiles_that_come_with_it(folder: Path, profile: str, values: dict[str, object]) -> None:
    settings = resolve(folder, profile)
    assert {name: said(settings, name) for name in values} == {
        name: (value, "profile", profile) for name, value in values.items()
    }


def test_profiles_of_ones_own(folder: Path) -> None:
    write(folder / "sonde.toml", "profile = 'tiny'\n[profiles.tiny]\nmax_turns = 2\n[profiles.tiny.rlm]\nmax_depth = 1")
    settings = resolve(folder)
    assert (settings.profile, settings.value("max_turns"), settings.value("max_depth")) == ("tiny", 2, 1)
    with pytest.raises(UsageError, match=r"no profile 'huge'.*corpus.*tiny"):
        resolve(folder, "huge")


def test_sub_calls_one_at_a_time(folder: Path) -> None:
    write(folder / "sonde.toml", "[rlm]\nparallel_sub_calls = false")
    assert resolve(folder).value("concurrency") == 1
    assert resolve(folder, None, {"concurrency": "4"}).value("concurrency") == 4
    assert resolve(folder, "multi-file").value("concurrency") is None


def test_a_variable_that_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SONDE_MAX_DEPTH", "6")
    with pytest.raises(UsageError, match="environment variable SONDE_MAX_DEPTH must be a whole number"):
        resolve(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_strangers_file_above_is_refused(folder: Path) -> None:
    planted = write(folder.parent / "sonde.toml", "max_turns = 1")
    os.chown(planted, 12345, 12345)
    with pytest.raises(UsageError, match="belongs to another user"):
        resolve(folder)


def test_every_default_is_one_that_could_be_set() -> None:
    for key in KEYS.values():
        assert key.default is None or key.kind.take(key.default) is not None, key.name


def test_amounts() -> None:
    assert [read_span(text) for text in ("90s", "1.5h", "7d", " 2 W ")] == [90, 5400, 604_800, 1_209_600]
    assert [read_size(text) for text in ("10B", "1.5kB", "2GB", "1GiB")] == [10, 1500, 2 * 10**9, 2**30]
    assert [size_text(size) for size in (0, 1500, 2_500_000, 3 * 10**12)] == [
        "0 bytes",
        "1.5 kB",
        "2.5 MB",
        "3000.00 GB",
    ]
    assert [span_text(span) for span in (0.2, 61, 90_000)] == ["0s", "1m", "1d"]
    for text in ("", "7", "d", "-1d", "7 days ago", "1e9d", "7GB"):
        with pytest.raises(ValueError, match=f"^{re.escape(text)}$"):
            read_span(text)


def test_what_the_page_shows_is_so(folder: Path) -> None:
    page = (Path(__file__).parents[2] / "docs/configuration.md").read_text(encoding="utf-8")
    blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", page, re.MULTILINE)
    shown = [textwrap.dedent(block).strip() + "\n" for block in blocks]
    settings, profile, models, agent = shown
    users(folder, settings + profile + models)
    assert resolve(folder).value("gc.older_than") == "14d"
    assert resolve(folder, "night").value("max_depth") == 2
    assert set(resolve(folder).models) == {"team", "claude-opus-4-7"}
    assert read_agent(write(folder / "agent.md", agent)).interpreter
    for name in [*(key.partition(".")[2] or key for key in KEYS if key.startswith("rlm.")), *ALIASES]:
        assert f"`{name.removeprefix('rlm.')}`" in page
