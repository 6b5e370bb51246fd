"""Whatever code does, it ends in time, gets at nothing, and leaves nothing behind."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import sonde
from sonde.testing.scripted import ScriptedModel, code
from tests.escape.arena import LANGUAGES, LIMIT_S, SECRET, Arena, Program, programs
from tests.sessions import MEMORY
from tests.users import AS_NOBODY, as_an_ordinary_user, python_for_everybody

BUILT = tuple(LANGUAGES)
MEGABYTE = 1024 * 1024
ROOM = MEMORY + 64 * MEGABYTE


@pytest.fixture(scope="module")
def arenas() -> Iterator[dict[str, Arena]]:
    """An arena for each language. A secret that is in our environment is to be found in none."""
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        patch.setenv(SECRET, "TERCES")
        opened = {language: Arena(language) for language in BUILT}
        for arena in opened.values():
            stack.callback(arena.close)
        yield opened


def every_tenth_in_check(language: str) -> list[object]:
    """Return the programs of a language, marked so that a tenth of them runs each time and all in a proof."""
    return [
        pytest.param(
            language,
            each,
            id=f"{language}-{each.path.stem}",
            marks=pytest.mark.proof if number % 10 else pytest.mark.sampled,
        )
        for number, each in enumerate(programs(language))
    ]


@pytest.mark.parametrize(
    ("language", "program"), [each for language in BUILT for each in every_tenth_in_check(language)]
)
def test_a_hostile_program_ends_and_gets_at_nothing(arenas: dict[str, Arena], language: str, program: Program) -> None:
    outcome = arenas[language].face(program)
    print(
        f"{outcome.end}: {outcome.seconds:.2f} s, {outcome.tree_bytes / MEGABYTE:.0f} MB there,"
        f" {outcome.host_bytes / MEGABYTE:.0f} MB here"
    )
    assert not program.ends or any(outcome.end.startswith(end) for end in program.ends), outcome.result
    assert outcome.result.status == "ok" or outcome.result.error is not None
    assert "ESCAPED" not in outcome.shown
    assert outcome.seconds < LIMIT_S + 1
    assert outcome.tree_bytes < ROOM
    assert outcome.host_bytes < ROOM
    assert outcome.next_value == arenas[language].expected
    assert not outcome.left


def test_the_probes_reach_what_they_reach_for_where_nothing_confines_them() -> None:
    """A probe that could not succeed would prove nothing."""
    arena = Arena("python", confined=False)
    try:
        reaching = [each for each in programs("python") if each.reaches]
        outcomes = {each.path.stem: arena.face(each) for each in reaching}
    finally:
        arena.close()
    held = [name for name, outcome in outcomes.items() if "ESCAPED" not in outcome.shown]
    print(f"{len(outcomes) - len(held)} of {len(outcomes)} reach it; not: {held}")
    assert len(held) < len(outcomes) / 4


@as_an_ordinary_user
def test_an_ordinary_user_is_confined_just_as_well() -> None:
    """The same programs, from a process that is not root's."""
    command = [*AS_NOBODY, str(python_for_everybody()), "-m", "tests.escape"]
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "PYTHONDONTWRITEBYTECODE": "1"}
    told = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    assert int(told.stdout) > 50, "so many were tried"


IN_A_RUN = (
    "call_with_wrong_kinds", "exit_at_once", "frame_cancels_what_is_not_there", "frame_forged_end", "frame_garbage",
    "frame_not_a_number", "frame_quite_deep", "frame_unknown_function",
    "frame_wrong_arguments", "loop_catching_everything", "memory_list", "recursion_limit_lifted_through_c",
    "runner_socket_replaced", "text_lone_surrogates", "value_deep", "value_quite_deep", "vocabulary_deleted",
)  # fmt: skip


@pytest.mark.parametrize("name", IN_A_RUN)
def test_a_run_goes_on_after_a_hostile_program(name: str, tmp_path: Path) -> None:
    """The model writes it, and then finishes."""
    hostile = next(each for each in programs("python") if each.path.stem == name)
    model = ScriptedModel(code(hostile.code), code("FINAL(await llm('alive'))"), answer=lambda _: "alive")
    result = sonde.ask("What?", model=model, route="rlm", runs_dir=tmp_path, cell_cpu=LIMIT_S, cell_memory=200)
    assert (result.status, result.answer) == ("completed", "alive"), result.error
