"""Sentences that were once read as facts about the person and are none."""

import pytest

from retentia.learn.inline import LearningSettings, read_by_rules
from retentia.working.original import Original


def read(text: str) -> list[tuple[str, str, str]]:
    found = read_by_rules([Original(id="m1", role="user", text=text)], LearningSettings())
    return [(one.subject, one.attribute, one.value) for one in found]


@pytest.mark.parametrize(
    "text",
    [
        "Mara dislikes because of the price per query.",
        "I sold my soul to get away from that.",
        "My goal is 100 % test coverage.",
        "My goal is to reach 100 % test coverage.",
        "My goal is to use only the necessary components for my website.",
        "Mein Ziel ist es, die Tests zu reparieren.",
        "Моя мета — виправити баг.",
        "Mein Ziel ist 100 % Testabdeckung.",
        "Моя мета — 100 % покриття тестами.",
    ],
)
def test_no_fact_is_read_from_an_idiom_a_reason_or_the_aim_of_a_task(text: str) -> None:
    assert read(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My goal for this year is to run a marathon.", "run a marathon"),
        ("My goal is to run a marathon.", "run a marathon"),
        ("Моя мета — пробігти марафон.", "пробігти марафон"),
        ("My personal goal is to learn Polish.", "learn Polish"),
        ("Mein Ziel für dieses Jahr ist ein Marathon.", "Marathon"),
        ("Mein persönliches Ziel ist ein Marathon.", "Marathon"),
        ("Моя мета на цей рік — вивчити польську.", "вивчити польську"),
    ],
)
def test_a_goal_is_the_persons_where_the_words_say_so(text: str, value: str) -> None:
    assert read(text) == [("user", "goal", value)]


def test_a_form_of_address_is_part_of_the_name_that_was_given() -> None:
    assert read("Meine Kollegin Frau Yıldız kommt.") == [("user", "colleague", "Frau Yıldız")]
