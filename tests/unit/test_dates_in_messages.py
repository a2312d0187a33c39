import pytest

from retentia.learn.commitments import due_of
from retentia.learn.dates import date_in
from retentia.model.time import Moment

SAID = Moment.parse("2026-05-13T10:00:00", zone="Europe/Kyiv")  # a Wednesday


@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("send the report by Friday", "2026-05-15"),
        ("bis Ende des Monats", "2026-05-31"),
        ("до кінця тижня", "2026-05-17"),
        ("am 3. Juni", "2026-06-03"),
        ("tomorrow", "2026-05-14"),
        ("by June 2027", "2027-06-30"),
        ("on Monday, by Friday at the latest", "2026-05-15"),
    ],
)
def test_a_promise_is_due_on_the_last_day_it_names(text: str, due: str) -> None:
    found = due_of(text, SAID)
    assert found is not None
    assert found[0] == Moment.parse(due, zone="Europe/Kyiv")


def test_a_due_time_of_day_is_an_instant() -> None:
    found = due_of("by tomorrow at 15:00", SAID)
    assert found is not None
    assert found[0] == Moment.parse("2026-05-14 15:00", zone="Europe/Kyiv")


def test_what_begins_then_or_names_no_time_is_not_due() -> None:
    assert due_of("from March on", SAID) is None
    assert due_of("some day", SAID) is None


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("I moved to Lviv in March", "2026-03"),
        ("ich wohne seit 2024 in Kyjiw", "2024"),
        ("I have lived here since March", "2026-03"),
        ("переїхала торік", "2025"),
        ("we married on 3 May 2019", "2019-05-03"),
        ("until Monday", "2026-05-11"),
    ],
)
def test_a_message_names_times_as_seen_from_when_it_was_said(text: str, iso: str) -> None:
    found = date_in(text, said=SAID)
    assert found is not None
    assert found.iso() == iso


def test_a_week_keeps_its_bounds() -> None:
    found = date_in("last week", said=SAID)
    assert found is not None
    assert (found.end - found.start) // 86_400_000_000 == 7
