"""A short soak; `make soak` lasts a quarter of an hour."""

from tests.soak.soak import soak


def test_a_short_soak_loses_nothing_and_passes_no_limit() -> None:
    print(soak(15, seed=20))
