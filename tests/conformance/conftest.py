"""The languages that the suite runs in."""

import pytest

LANGUAGES = ("python", "javascript", "monty")

_COSTS_THE_SESSION = "a time limit costs the session, which the engine then builds again: tests/unit/test_monty.py"
_NO_TASKS = "its asyncio has gather and sleep, and no tasks"

SKIPPED: dict[tuple[str, str], str] = {
    ("javascript", "test_a_cell_that_will_not_be_interrupted_is_killed"): "test_escape has the programs that stall it",
    ("javascript", "test_blocking_forms_inside_coroutines"): "its blocking forms are the promises themselves",
    ("javascript", "test_ending_the_interpreter_is_refused"): "there is nothing that would end it",
    ("javascript", "test_a_dead_interpreter_is_told"): "the code cannot end the process",
    ("javascript", "test_classes_can_be_pickled_and_dataclasses_made"): "it has neither",
    ("monty", "test_a_cell_that_computes_too_long_is_interrupted_and_costs_no_variable"): _COSTS_THE_SESSION,
    ("monty", "test_endless_tasks_are_interrupted_too"): _COSTS_THE_SESSION,
    ("monty", "test_a_cell_that_will_not_be_interrupted_is_killed"): _COSTS_THE_SESSION,
    ("monty", "test_concurrency_as_models_write_it"): _NO_TASKS,
    ("monty", "test_a_cell_does_not_end_before_what_it_started"): _NO_TASKS,
    ("monty", "test_after_final_open_calls_are_given_up"): _NO_TASKS,
    ("monty", "test_waiting_for_nothing_is_an_error"): _NO_TASKS,
    ("monty", "test_spinning_while_waiting_does_not_starve_the_answer"): _NO_TASKS,
    ("monty", "test_words_can_be_hidden_and_come_back"): "it has no `del`",
    ("monty", "test_classes_can_be_pickled_and_dataclasses_made"): "it has no pickle",
    ("monty", "test_a_stream_of_too_many_ends_in_an_error"): "it has no `async for`: its pipelines give lists",
    ("monty", "test_a_stage_may_take_the_item_and_its_number"): "its functions do not tell what they take",
    ("monty", "test_a_dead_interpreter_is_told"): "the code cannot end the process; tests/unit/test_monty.py does",
}
"""The tests that a language does not run, each with the reason."""


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    test = request.node.originalname
    if (request.param, test) in SKIPPED:
        pytest.skip(SKIPPED[request.param, test])
    return request.param
