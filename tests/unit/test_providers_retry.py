import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.providers.retry import is_transient, wait_seconds


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 529])
def test_what_may_pass_is_tried_again(status: int) -> None:
    assert is_transient(status)


@pytest.mark.parametrize("status", [200, 301, 400, 401, 403, 404, 413, 422, 501])
def test_what_stays_wrong_is_not_tried_again(status: int) -> None:
    assert not is_transient(status)


def test_the_wait_doubles_and_honours_what_the_server_asks_for() -> None:
    assert [wait_seconds(failures, chance=0) for failures in (1, 2, 3, 4, 20)] == [0.5, 1, 2, 4, 30]
    assert wait_seconds(1, "7", chance=0.5) == 7
    assert wait_seconds(1, "3600", chance=0.5) == 30
    assert wait_seconds(1, "Wed, 21 Oct 2026 07:28:00 GMT", chance=0) == 0.5


@given(st.integers(1, 1000), st.text(max_size=8), st.floats(0, 1))
def test_a_wait_is_never_nothing_and_never_long(failures: int, retry_after: str, chance: float) -> None:
    assert 0.25 <= wait_seconds(failures, retry_after, chance=chance) <= 30
