"""Which test shows each requirement of seeds 000 and 002, and why some have none here.

Where several do, the one that is named shows most of it from outside; conformance tests have the edges. The programs of
seed 002 run as they are printed in `tests/surfaces/test_seed_002_as_printed.py`.
"""

_000 = "tests/surfaces/test_seed_000.py::"
_002 = "tests/surfaces/test_seed_002.py::"
_CELLS = "tests/surfaces/test_seed_002_cells.py::"
_PATTERNS = "tests/surfaces/test_seed_002_patterns.py::"
_SCALE = "tests/surfaces/test_scale.py::"
_SUBAGENTS = "tests/surfaces/test_subagents.py::"

ROWS: dict[str, str] = {
    # Inputs beyond the window
    "S0-1": _SCALE + "test_a_needle_is_not_in_the_conversation_until_code_prints_it",
    "S0-2": _SCALE + "test_an_input_of_a_hundred_windows_is_counted_exactly",
    "S0-3": _000 + "test_an_input_is_searched_parted_mapped_and_reduced",
    "S0-4": _000 + "test_a_page_that_fails_is_in_the_ledger",
    "S0-5": _000 + "test_code_goes_on_one_by_one_or_at_once_or_not_at_all",
    "S0-6": _000 + "test_the_mean_of_10_000_records_is_exact",
    "S0-7": _000 + "test_a_thousand_subagents_in_two_phases_take_little_memory",
    "S0-8": _000 + "test_each_of_300_pages_has_one_subagent",
    "S0-9": _000 + "test_three_ways_to_ask_send_three_kinds_of_requests",
    "S0-10": _000 + "test_what_a_subagent_goes_through_stays_out_of_its_parents_sight",
    "S0-11": _000 + "test_an_input_is_searched_parted_mapped_and_reduced",
    "S0-12": "tests/docs/test_patterns_page.py::test_the_examples_run",
    "S0-13": _000 + "test_two_servers_and_three_models_each_get_their_own_requests",
    # How it is used
    "S0-24": _SUBAGENTS + "test_unknown_agents_are_told_with_those_that_there_are",
    "S0-25": _002 + "test_the_word_workflow_has_the_work_done_from_code",
    "S0-26": "tests/surfaces/test_api.py::test_ask_works_inside_a_running_loop",
    "S0-27": _000 + "test_one_command_without_set_up_does_a_workflow",
    "S0-28": _CELLS + "test_ways_out_of_a_cell_are_refused",
    "S0-29": _000 + "test_every_request_is_in_the_trace",
    # Subagents from code
    "S2-1": _002 + "test_task_is_a_word_unless_it_is_switched_off",
    "S2-2": _002 + "test_a_subagent_is_told_the_description_and_nothing_else",
    "S2-3": _SUBAGENTS + "test_a_task_runs_a_whole_loop_with_tools",
    "S2-4": _SUBAGENTS + "test_a_task_with_a_schema_gives_data_and_repairs_once",
    "S2-5": _000 + "test_code_goes_on_one_by_one_or_at_once_or_not_at_all",
    "S2-6": _002 + "test_the_word_workflow_has_the_work_done_from_code",
    "S2-7": _002 + "test_subagents_are_seen_grouped_by_the_cell_that_sent_them",
    "S2-9": _SUBAGENTS + "test_rlm_looks_into_a_slice_or_an_input_by_handle",
    # The six patterns
    "S2-10": _PATTERNS + "test_thirty_tickets_go_where_their_labels_say",
    "S2-11": _PATTERNS + "test_workers_overlap_up_to_the_limit_and_keep_their_order",
    "S2-12": _PATTERNS + "test_findings_stay_where_most_of_three_confirm_them",
    "S2-13": _PATTERNS + "test_the_best_of_three_proposals_is_kept",
    "S2-14": _PATTERNS + "test_five_entries_meet_in_four_matches_and_one_in_none",
    "S2-15": _PATTERNS + "test_a_search_goes_on_until_a_round_brings_nothing_new",
    "S2-16": "tests/docs/test_patterns_page.py::test_the_examples_run",
    # What cells may and may not
    "S2-17": _002 + "test_no_subagent_is_sent_before_a_person_agrees",
    "S2-18": _002 + "test_this_python_is_new_enough",
    "S2-19": _CELLS + "test_a_cell_has_limits_that_can_be_set",
    "S2-20": _CELLS + "test_each_error_is_told_with_its_type",
    "S2-21": _CELLS + "test_ways_out_of_a_cell_are_refused",
    "S2-22": _002 + "test_the_prompt_teaches_how_to_send_subagents_well",
}

WITHOUT: dict[str, str] = {
    "S0-23": "the factory `create_deep_agent` comes with the deep agent; tests/docs runs the snippets of the README",
    "S2-8": "editors connect over ACP in a later part",
}
