"""Times in words and figures, in three languages; the present is a Wednesday, 13 May 2026, 10:00 in Kyiv."""

import pytest

from retentia.languages.periods import Direction, Period, find_periods
from retentia.model.time import Moment, Precision

NOW = Moment.parse("2026-05-13T10:00:00", zone="Europe/Kyiv")


def _iso(instant: int | None) -> str:
    return "" if instant is None else Moment.at(instant, NOW.zone).iso()[:16].removesuffix("T00:00")


def _read(text: str, toward: Direction = "past") -> list[tuple[str, str, str]]:
    return [(_iso(one.since), _iso(one.until), one.role) for one in find_periods(text, now=NOW, toward=toward)]


def _only(text: str, toward: Direction = "past") -> Period:
    (found,) = find_periods(text, now=NOW, toward=toward)
    return found


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("What happened last month?", "2026-04-01", "2026-05-01"),
        ("am Ende des letzten Monats", "2026-04-01", "2026-05-01"),
        ("минулого місяця", "2026-04-01", "2026-05-01"),
        ("last Tuesday", "2026-05-12", "2026-05-13"),
        ("What did I do on Tuesday?", "2026-05-12", "2026-05-13"),
        ("am letzten Dienstag", "2026-05-12", "2026-05-13"),
        ("минулого вівторка", "2026-05-12", "2026-05-13"),
        ("on Wednesday", "2026-05-06", "2026-05-07"),
        ("last week", "2026-05-04", "2026-05-11"),
        ("letzte Woche", "2026-05-04", "2026-05-11"),
        ("минулого тижня", "2026-05-04", "2026-05-11"),
        ("vorletzte Woche", "2026-04-27", "2026-05-04"),
        ("the day before yesterday", "2026-05-11", "2026-05-12"),
        ("vorgestern", "2026-05-11", "2026-05-12"),
        ("позавчора", "2026-05-11", "2026-05-12"),
        ("yesterday", "2026-05-12", "2026-05-13"),
        ("gestern Abend", "2026-05-12T17:00", "2026-05-13"),
        ("вчора ввечері", "2026-05-12T17:00", "2026-05-13"),
        ("am Dienstagabend", "2026-05-12T17:00", "2026-05-13"),
        ("last night", "2026-05-12T20:00", "2026-05-13T06:00"),
        ("two weeks ago", "2026-04-27", "2026-05-04"),
        ("vor drei Tagen", "2026-05-10", "2026-05-11"),
        ("тиждень тому", "2026-05-04", "2026-05-11"),
        ("a year ago", "2025-01-01", "2026-01-01"),
        ("торік", "2025-01-01", "2026-01-01"),
        ("in the last 10 days", "2026-05-03", "2026-05-13T10:00"),
        ("in den letzten zwei Wochen", "2026-04-29", "2026-05-13T10:00"),
        ("за останні 10 днів", "2026-05-03", "2026-05-13T10:00"),
        ("over the past month", "2026-04-13", "2026-05-13T10:00"),
        ("in March", "2026-03-01", "2026-04-01"),
        ("im März", "2026-03-01", "2026-04-01"),
        ("у березні", "2026-03-01", "2026-04-01"),
        ("in December", "2025-12-01", "2026-01-01"),
        ("in May", "2026-05-01", "2026-06-01"),
        ("last May", "2025-05-01", "2025-06-01"),
        ("in March 2024", "2024-03-01", "2024-04-01"),
        ("in 2026", "2026-01-01", "2027-01-01"),
        ("im Jahr 2024", "2024-01-01", "2025-01-01"),
        ("2025 року", "2025-01-01", "2026-01-01"),
        ("spring 2025", "2025-03-01", "2025-06-01"),
        ("letzten Sommer", "2025-06-01", "2025-09-01"),
        ("навесні 2025", "2025-03-01", "2025-06-01"),
        ("in Q3 2025", "2025-07-01", "2025-10-01"),
        ("3 May", "2026-05-03", "2026-05-04"),
        ("May 3rd, 2024", "2024-05-03", "2024-05-04"),
        ("am 3. Mai", "2026-05-03", "2026-05-04"),
        ("3 травня", "2026-05-03", "2026-05-04"),
        ("першого травня", "2026-05-01", "2026-05-02"),
        ("on 1 June", "2025-06-01", "2025-06-02"),
        ("between 3 and 5 May", "2026-05-03", "2026-05-06"),
        ("vom 3. bis 5. Mai", "2026-05-03", "2026-05-06"),
        ("з 3 до 5 травня", "2026-05-03", "2026-05-06"),
        ("from Monday to Wednesday", "2026-05-04", "2026-05-07"),
        ("between March and May 2025", "2025-03-01", "2025-06-01"),
        ("zwischen Montag und Dienstag", "2026-05-11", "2026-05-13"),
        ("on 2026-05-03", "2026-05-03", "2026-05-04"),
        ("am 03.05.2026", "2026-05-03", "2026-05-04"),
        ("25/12/2025", "2025-12-25", "2025-12-26"),
        ("notes from last week", "2026-05-04", "2026-05-11"),
        ("am Wochenende", "2026-05-09", "2026-05-11"),
        ("on the 29th of February", "2024-02-29", "2024-03-01"),
    ],
)
def test_a_time_in_a_question_is_an_interval_of_local_days(text: str, since: str, until: str) -> None:
    assert _read(text) == [(since, until, "when")]


@pytest.mark.parametrize(
    ("text", "since", "until", "role"),
    [
        ("since March", "2026-03-01", "", "start"),
        ("seit Montag", "2026-05-11", "", "start"),
        ("з понеділка", "2026-05-11", "", "start"),
        ("from March on", "2026-03-01", "", "start"),
        ("after 3 May", "2026-05-04", "", "start"),
        ("before Friday", "", "2026-05-08", "end"),
        ("until April", "", "2026-05-01", "end"),
        ("bis Ende März", "", "2026-04-01", "end"),
    ],
)
def test_what_began_or_ended_is_open_on_one_side(text: str, since: str, until: str, role: str) -> None:
    assert _read(text) == [(since, until, role)]


@pytest.mark.parametrize(
    ("text", "since", "until", "role"),
    [
        ("by Friday", "", "2026-05-16", "due"),
        ("bis Freitag", "", "2026-05-16", "due"),
        ("до п’ятниці", "", "2026-05-16", "due"),
        ("before Friday", "", "2026-05-15", "due"),
        ("by the end of the month", "", "2026-06-01", "due"),
        ("bis Ende nächster Woche", "", "2026-05-25", "due"),
        ("до кінця тижня", "", "2026-05-18", "due"),
        ("spätestens am Montag", "", "2026-05-19", "due"),
        ("by June", "", "2026-07-01", "due"),
        ("until Friday", "", "2026-05-16", "end"),
        ("from March", "2027-03-01", "", "start"),
        ("ab Montag", "2026-05-18", "", "start"),
        ("on Tuesday", "2026-05-19", "2026-05-20", "when"),
        ("next Friday", "2026-05-15", "2026-05-16", "when"),
        ("3 травня", "2027-05-03", "2027-05-04", "when"),
        ("in zwei Wochen", "2026-05-27", "2026-05-28", "when"),
        ("через тиждень", "2026-05-20", "2026-05-21", "when"),
        ("morgen früh", "2026-05-14T05:00", "2026-05-14T12:00", "when"),
    ],
)
def test_a_promise_names_the_next_such_day(text: str, since: str, until: str, role: str) -> None:
    assert _read(text, "future") == [(since, until, role)]


@pytest.mark.parametrize(
    "text",
    [
        "May I ask something? You may 3 times.",
        "The troops march on, march 5 miles.",
        "June said hi, a novel by June Smith, ask April about it.",
        "in Spring Boot",
        "3 May be late",
        "an august person in august company",
        "Sun Microsystems on Sun hardware",
        "version 3.11.2024 and Python 3.11.4",
        "192.168.1.10 and 10.05.2026.1",
        "It costs $3.05 or 2026 EUR, in 2000 cases",
        "file_2026-05-03 and 2026-05-03-report.md",
        "03/05/2026 or 03/05",
        "every Monday, Black Friday, Monday Night Football",
        "jeden Montag, Guten Morgen",
        "кожного понеділка, лютий холод",
        "the last time we met, last but not least",
        "I read it in three days.",
        "in the coming weeks, in recent years, in den letzten Jahren, за останні роки",
        "since the 1998 law and after the 1954 flood",
        "30 February 2026, 31.02.2026",
        "a year of 99999999 days ago",
    ],
)
def test_words_names_and_numbers_that_only_look_like_times_are_left_alone(text: str) -> None:
    assert _read(text) == []


def test_a_time_of_day_keeps_the_offset_it_was_told_with() -> None:
    found = _only("am 1. Juni 19:00 (UTC-5)", "future")
    assert found.since == Moment.parse("2026-06-01T19:00:00-05:00").start
    assert found.precision is Precision.INSTANT
    assert found.words == "am 1. Juni 19:00 (UTC-5)"


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ("July 4, 2025 at 7pm", "2025-07-04T19:00"),
        ("am 03.05.2026 um 10:30 Uhr", "2026-05-03T10:30"),
        ("вчора о 19:00", "2026-05-12T19:00"),
        ("2026-05-03T10:00+02:00", "2026-05-03T11:00"),
    ],
)
def test_a_time_of_day_behind_a_date_is_an_instant(text: str, clock: str) -> None:
    found = _only(text)
    assert (_iso(found.since), found.precision) == (clock, Precision.INSTANT)


def test_a_bare_number_behind_a_day_is_no_time_of_day() -> None:
    assert _only("yesterday 5 people came").words == "yesterday"


def test_a_day_is_as_long_as_its_clocks_make_it() -> None:
    found = _only("on 29 March 2026")  # clocks in Kyiv go forward that night
    assert found.since is not None
    assert found.until is not None
    assert (found.until - found.since) // 3_600_000_000 == 23


def test_years_beyond_the_calendar_are_left_out() -> None:
    assert find_periods("2026 years ago and 9999 years ago", now=NOW) == []


def test_each_time_of_a_text_is_named_with_its_words_and_place() -> None:
    text = "Gestern rief Anna an, der Vertrag gilt seit 2024."
    assert [one.words for one in find_periods(text, now=NOW)] == ["Gestern", "seit 2024"]
    assert [text[one.start : one.end] for one in find_periods(text, now=NOW)] == ["Gestern", "seit 2024"]
