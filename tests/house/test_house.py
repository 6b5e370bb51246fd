"""What the linters do not check."""

import importlib
from pathlib import Path

import sonde

ROOT = Path(__file__).parents[2]
WANTED, AT_MOST = 400, 600
PUBLIC = [
    "InputChanged",
    "InputError",
    "JournalError",
    "LimitReached",
    "ModelChoiceError",
    "ModelError",
    "Result",
    "RunError",
    "SondeError",
    "UsageError",
    "__version__",
    "aask",
    "ask",
]


def sources() -> list[Path]:
    return [path for folder in ("src", "tests", "bench") for path in (ROOT / folder).rglob("*.py")]


def test_files_are_short() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in sources()}
    assert not {path: length for path, length in lengths.items() if length > AT_MOST}
    assert not {p: n for p, n in lengths.items() if n > WANTED and "src" in p.parts}, "split before it grows further"


def test_the_public_names_are_these() -> None:
    assert sonde.__all__ == PUBLIC == sorted(PUBLIC)
    assert len(PUBLIC) <= 25
    for name in PUBLIC:
        assert getattr(sonde, name) is not None


def test_every_room_is_in_the_architecture() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = [
        path.name for path in (ROOT / "src/sonde").iterdir() if path.name != "__pycache__" and path.name != "py.typed"
    ]
    assert not [room for room in rooms if f"`{room.removesuffix('.py')}" not in text]


def test_nothing_is_mocked() -> None:
    for path in sources():
        assert "mock" + ".patch" not in path.read_text(encoding="utf-8"), path


def test_every_module_says_what_it_is_for() -> None:
    for path in (ROOT / "src/sonde").rglob("*.py"):
        parts = path.relative_to(ROOT / "src").with_suffix("").parts
        if parts[-1] not in {"__main__"} and not {"library", "blocks"} & set(parts):
            assert importlib.import_module(".".join(parts).removesuffix(".__init__")).__doc__, path
