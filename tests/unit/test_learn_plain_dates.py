"""Plain dates are read as exactly as they were given, and nothing else is taken for one."""

import pytest

from retentia.learn.plain_dates import plain_date


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("from 2031-03-01 on", "2031-03-01"),
        ("in 2031-09.", "2031-09"),
        ("am 1.2.2026", "2026-02-01"),
        ("am 3. Mai 1979", "1979-05-03"),
        ("on 4 April 1988", "1988-04-04"),
        ("on the 4th of April, 1988", "1988-04-04"),
        ("on May 3rd, 2024", "2024-05-03"),
        ("since March 2020", "2020-03"),
        ("14 липня 1990 року", "1990-07-14"),
        ("since 2019", "2019"),
    ],
)
def test_a_date_with_a_year_is_read(text: str, iso: str) -> None:
    found = plain_date(text)
    assert found is not None
    assert found.iso() == iso


@pytest.mark.parametrize("text", ["on May 3", "31.02.2026", "10.2.0.1", "1,999.50", "room 2019-b"])
def test_what_is_no_date_or_has_no_year_is_not_read(text: str) -> None:
    assert plain_date(text) is None


def test_a_date_is_a_day_of_the_zone_that_is_given() -> None:
    found = plain_date("2026-06-01", "Europe/Kyiv")
    assert found is not None
    assert (found.zone, found.local_day()) == ("Europe/Kyiv", 20260601)
