"""The tables of requirements, each `tests/rows*.py`, name tests that there are and leave no requirement out."""

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
TABLES = [import_module(f"tests.{path.stem}") for path in sorted((ROOT / "tests").glob("rows*.py"))]
ROWS: dict[str, str] = {row: test for table in TABLES for row, test in table.ROWS.items()}
WITHOUT: dict[str, str] = {row: reason for table in TABLES for row, reason in table.WITHOUT.items()}


def wanted() -> Iterator[str]:
    """Yield the requirements of the seeds that have numbers."""
    for seed, numbers in {
        "S0": (*range(1, 14), *range(23, 30)),
        "S2": range(1, 23),
        "S3": range(1, 19),
        "S4": range(1, 27),
    }.items():
        yield from (f"{seed}-{number}" for number in numbers)


def test_every_requirement_has_a_test_or_a_reason() -> None:
    assert not set(wanted()) - ROWS.keys() - WITHOUT.keys()
    assert all(WITHOUT.values())


def test_no_requirement_is_listed_twice() -> None:
    listed = Counter(row for table in TABLES for row in (*table.ROWS, *table.WITHOUT))
    assert not [row for row, times in listed.items() if times > 1]


def test_every_test_that_is_named_is_there() -> None:
    for row, test in ROWS.items():
        path, _, name = test.partition("::")
        assert name.startswith("test_"), (row, test)
        assert name in defined_in(path), (row, test)


@cache
def defined_in(path: str) -> set[str]:
    """Return the names of a file's functions."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
