import pytest

from retentia.model.time import Moment
from retentia.read.when import split_time

NOW = Moment.parse("2026-05-13T10:00:00", zone="Europe/Kyiv")


def _asked(question: str) -> tuple[str, str, str]:
    left, since, until = split_time(question, NOW)
    days = ["" if one is None else Moment.at(one, NOW.zone).iso()[:16] for one in (since, until)]
    return left, days[0].removesuffix("T00:00"), days[1].removesuffix("T00:00")


@pytest.mark.parametrize(
    ("question", "left", "since", "until"),
    [
        ("What did we decide last month?", "What did we decide?", "2026-04-01", "2026-05-01"),
        ("Was war am letzten Dienstag?", "Was war?", "2026-05-12", "2026-05-13"),
        ("Що сталося минулого тижня?", "Що сталося?", "2026-05-04", "2026-05-11"),
        ("Last week, what broke?", "what broke?", "2026-05-04", "2026-05-11"),
        ("What changed since March and before May?", "What changed and?", "2026-03-01", "2026-05-01"),
        ("Compare last week and this week", "Compare and", "2026-05-04", "2026-05-18"),
        ("Who called on 3 May at 19:00?", "Who called?", "2026-05-03T19:00", "2026-05-03T20:00"),
        ("What is my name?", "What is my name?", "", ""),
        ("", "", "", ""),
    ],
)
def test_a_question_is_parted_from_its_time(question: str, left: str, since: str, until: str) -> None:
    assert _asked(question) == (left, since, until)


def test_times_that_exclude_each_other_bound_nothing() -> None:
    question = "What was after yesterday and before March?"
    assert split_time(question, NOW) == (question, None, None)
