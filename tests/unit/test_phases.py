from datetime import timedelta

import pytest

from retentia.model.time import Moment
from retentia.working.original import Original
from retentia.working.phases import phase_boundaries

COOKING = (
    "The tomato sauce needs garlic, basil and olive oil, simmering slowly beside boiling spaghetti noodles.",
    "Grated parmesan cheese melts over hot pasta, while oregano and pepper season the minced beef.",
    "Roast the aubergine with onions and mushrooms, then bake lasagne layers in the oven.",
    "Knead flour, yeast and salted water into dough, and rest the pizza before adding mozzarella.",
    "Chop parsley, drain capers and anchovies, whisk lemon vinaigrette for the rocket salad.",
    "Stir risotto rice in chicken broth, butter and white wine until creamy and tender.",
)
FLYING = (
    "Pilots check weather charts, altimeter settings and runway lighting during preflight briefings.",
    "Turbine engines compress cold intake air, igniting kerosene for thrust and climb performance.",
    "Radar controllers assign headings, altitudes and squawk codes through crowded airspace sectors.",
    "Landing gear, flaps and spoilers deploy on final approach under crosswind conditions.",
    "Navigation beacons guide aircraft along airways, crossing oceans with satellite positioning.",
    "Cockpit instruments display attitude, airspeed, vertical velocity and fuel consumption.",
)


def said(*texts: str, roles: str = "ua") -> list[Original]:
    names = {"u": "user", "a": "assistant", "t": "tool"}
    return [
        Original(id=f"m{place}", role=names[roles[place % len(roles)]], text=text) for place, text in enumerate(texts)
    ]


def opened(messages: list[Original]) -> list[tuple[int, str]]:
    return [(boundary.place, boundary.sign.value) for boundary in phase_boundaries(messages)]


@pytest.mark.parametrize(
    "text",
    [
        "Next topic: the garden.",
        "OK, let's move on to the budget.",
        "Back to the database question.",
        "Nächstes Thema: der Garten.",
        "Okay, zurück zur Datenbank.",
        "Übrigens, was macht der Garten?",
        "Перейдімо до бюджету.",
        "Добре, наступне питання: сад.",
        "До речі, як сад?",
    ],
)
def test_words_that_say_so_open_a_phase(text: str) -> None:
    assert opened(said("Fix the bug.", "Done.", text)) == [(2, "next_topic")]


@pytest.mark.parametrize(
    "text",
    [
        "That works, thanks!",
        "Das funktioniert, danke!",
        "Danke, das hat geklappt.",
        "Працює, дякую!",
        "Дякую, все працює!",
    ],
)
def test_words_that_close_a_phase_open_one_with_the_next_thing_a_user_says(text: str) -> None:
    assert opened(said("Fix the bug.", "Done.", text, "Gladly.", "What about lunch?")) == [(4, "closing")]


@pytest.mark.parametrize(
    "text",
    [
        "The next step is clear.",
        "I walked back to the shop.",
        "It works, thanks, but can you explain why the test before it still fails on my machine today?",
        "Das Thema ist schwierig.",
        "Ми перейшли через міст.",
    ],
)
def test_similar_words_open_nothing(text: str) -> None:
    assert opened(said("Fix the bug.", "Done.", text, "I see.", "And then?")) == []


def test_a_long_pause_opens_a_phase_and_a_short_one_does_not() -> None:
    def at(hour: int, place: int) -> Original:
        return Original(id=f"m{place}", role="user", text="Hello there", at=Moment.parse(f"2026-03-03T{hour:02}:00Z"))

    messages = [at(8, 0), at(9, 1), at(14, 2)]
    assert opened(messages) == [(2, "pause")]
    assert phase_boundaries(messages, pause=timedelta(hours=6)) == ()


def test_other_vocabulary_opens_a_phase_where_it_begins_and_the_same_does_not() -> None:
    assert opened(said(*COOKING, *FLYING)) == [(6, "vocabulary")]
    assert opened(said(*COOKING, *COOKING)) == []


def test_no_phase_opens_with_an_answer_a_tool_or_the_first_message() -> None:
    assert opened(said("Next topic: x", "Next topic: y", "Next topic: z", roles="uat")) == []
    assert opened([]) == []
