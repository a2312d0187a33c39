"""Which layer a traffic needs next: the rules, one by one, and the tables they come from."""

from dataclasses import fields

import pytest

from retentia import Memory
from retentia.advice import layers_on
from retentia.diagnose.advice_words import AdviceWords
from retentia.diagnose.advisor import Advice, Stand, advise
from retentia.diagnose.advisor_table import LANGUAGES, Layer, advisor_data, shipped_table
from retentia.diagnose.symptom import SymptomKind
from retentia.diagnose.traffic import Spread, Traffic
from retentia.errors import InvalidInput
from retentia.learn.inline import LearningSettings
from retentia.learn.relations import shipped_relations
from retentia.model.record import ITEM_KINDS
from retentia.tools.log import ToolLog
from retentia.working.context import ContextSettings
from retentia.working.opening import OpeningPolicy
from retentia.working.settings import WorkingSettings
from retentia.working.strategy import Strategy
from retentia.working.summary import SummaryPolicy
from retentia.working.window import WindowSettings

TABLE = shipped_table()
SETTINGS = {
    one.__name__: one
    for one in (
        WorkingSettings, LearningSettings, Strategy, ContextSettings, WindowSettings, SummaryPolicy, OpeningPolicy,
        shipped_relations,
    )
} | {"ITEM_KINDS": ITEM_KINDS}  # fmt: skip
BACK = Traffic(sessions=9, people=2, returning_people=2, sessions_of_one=3, messages=10, turns=5)
SHORT = Traffic(sessions=3, people=1, messages=20, turns=10, one_off_share=0.0)


def next_of(traffic: Traffic, *on: str) -> str | None:
    following = advise(traffic, on=on or ("buffer",)).next
    return None if following is None else following.name


def stand(advice: Advice, name: str) -> Stand:
    return next(one.stand for one in (*advice.ladder, *advice.beside) if one.name == name)


def test_one_off_tasks_need_no_long_term_memory() -> None:
    once = Traffic(
        sessions=10,
        people=9,
        returning_people=1,
        sessions_of_one=2,
        one_off_share=0.8,
        messages=6,
        turns=3,
        episodes=99,
    )
    advice = advise(once)
    assert advice.next is None
    assert advice.rung == "buffer"
    (reading,) = next(one.readings for one in advice.ladder if one.name == "facts")
    assert (reading.trigger.measure, reading.value) == ("one_off_share", 0.8)


def test_below_20_turns_the_buffer_is_enough() -> None:
    assert next_of(SHORT) is None
    assert next_of(Traffic(sessions=1, messages=20, turns=19)) is None
    assert next_of(Traffic(sessions=1, messages=20, turns=20)) == "window"


def test_a_conversation_that_is_long_in_tokens_needs_a_window_too() -> None:
    assert next_of(Traffic(sessions=1, messages=6, turns=3, tokens=8000)) == "window"


def test_from_30_messages_a_summary_is_needed() -> None:
    assert next_of(Traffic(sessions=1, messages=29, turns=14)) is None
    advice = advise(Traffic(sessions=1, messages=30, turns=15))
    assert advice.next is not None
    assert advice.next.name == advice.rung == "summary"
    assert [(one.trigger.threshold, one.value) for one in advice.next.readings] == [(30, 30)]
    assert {stand(advice, name) for name in ("buffer", "window")} == {Stand.OUTGROWN}
    assert next_of(Traffic(sessions=1, messages=30, turns=15), "buffer", "window", "summary") is None


def test_people_who_come_back_need_session_records_first_and_a_profile_when_those_do_not_reach() -> None:
    assert next_of(BACK) == "sessions"
    assert next_of(BACK, "buffer", "sessions") is None
    often = Traffic(sessions=9, people=2, returning_people=1, sessions_of_one=4, messages=10, turns=5)
    assert next_of(often) == "sessions"
    assert stand(advise(often), "facts") is Stand.LATER
    assert next_of(often, "buffer", "sessions") == "facts"


def test_many_kinds_of_things_need_relations_only_where_they_depend_on_one_another() -> None:
    assert next_of(Traffic(sessions=2, entity_types=30, relation_steps=2)) is None
    assert next_of(Traffic(sessions=2, entity_types=9, relation_steps=30)) is None
    assert next_of(Traffic(sessions=2, entity_types=10, relation_steps=3)) == "relations"


@pytest.mark.parametrize(
    ("measure", "number", "layer"),
    [
        ("episodes", 10, "episodes"),
        ("looks_back", 5, "episodes"),
        ("instructions", 3, "procedures"),
        ("experiences", 5, "experience"),
    ],
)
def test_what_is_told_asked_and_tried_often_needs_a_layer_of_its_own(measure: str, number: int, layer: str) -> None:
    assert next_of(Traffic(sessions=2, **{measure: number - 1})) is None
    assert next_of(Traffic(sessions=2, **{measure: number})) == layer


def test_tools_stand_beside_the_ladder() -> None:
    advice = advise(Traffic(sessions=1, messages=2, turns=1, repeated_calls=3, tools=21))
    assert advice.next is None
    assert [one.stand for one in advice.beside] == [Stand.ADVISED, Stand.ADVISED]
    few = advise(Traffic(sessions=1, messages=2, turns=1, repeated_calls=2, tools=20))
    assert [one.stand for one in few.beside] == [Stand.UNNEEDED, Stand.UNNEEDED]


def test_what_is_on_without_being_needed_is_told() -> None:
    advice = advise(SHORT, on=("buffer", "window", "summary", "episodes"))
    assert [one.name for one in advice.sufficient] == ["buffer"]
    assert {one.name for one in advice.unneeded if one.stand is Stand.SPARE} == {"window", "summary", "episodes"}


def test_the_number_closest_to_a_change_is_named() -> None:
    closest = advise(Traffic(sessions=1, messages=27, turns=10)).closest
    assert closest is not None
    assert (closest.layer, closest.value, closest.trigger.threshold) == ("summary", 27, 30)
    assert advise(Traffic(sessions=1)).closest is None


def test_a_symptom_names_the_layer_that_cures_it_the_most_frequent_first() -> None:
    seen = {SymptomKind.COMPLAINT: 1, SymptomKind.REPEATED_CALL: 4, SymptomKind.INVENTED: 0}
    advice = advise(SHORT, seen=seen)
    assert [(one.kind, one.count, one.layer.name) for one in advice.symptoms] == [
        (SymptomKind.REPEATED_CALL, 4, "tool_log"),
        (SymptomKind.COMPLAINT, 1, "facts"),
    ]


@pytest.mark.parametrize("kind", SymptomKind)
def test_every_symptom_has_a_cure_and_words(kind: SymptomKind) -> None:
    assert TABLE.cure(kind).setting
    row = next(one for one in advisor_data()["symptom"] if one["kind"] == kind)
    assert all(row[language] for language in LANGUAGES)


@pytest.mark.parametrize("layer", TABLE.layers, ids=lambda layer: layer.name)
def test_every_layer_has_a_setting_and_words_in_three_languages(layer: Layer) -> None:
    assert layer.setting
    for words in (layer.titles, layer.gives):
        assert all(words[language].strip() for language in LANGUAGES)
    assert len(set(layer.titles.values())) == len(LANGUAGES)


@pytest.mark.parametrize(
    "layer", [one for one in TABLE.layers if "memory." not in one.setting], ids=lambda layer: layer.name
)
def test_the_setting_of_a_layer_switches_it_on(layer: Layer) -> None:
    made = eval(f"({layer.setting},)", dict(SETTINGS))
    chosen = {type(one): one for one in made}
    working = chosen.get(WorkingSettings, WorkingSettings())
    assert layer.name in layers_on(working, chosen.get(LearningSettings, LearningSettings()))


def test_the_verbs_of_the_tool_log_are_there() -> None:
    assert TABLE.cure(SymptomKind.REPEATED_CALL).setting == (
        "memory.log_tool_call(…) after a call, memory.tools.seen(…) before it"
    )
    assert callable(Memory.log_tool_call)
    assert callable(ToolLog.seen)


def test_a_layer_that_is_switched_off_counts_as_off() -> None:
    off = WorkingSettings(strategy=Strategy.of([]), summary=SummaryPolicy(kind="off"))
    assert layers_on(off, LearningSettings(is_on=False)) == ("buffer", "window")
    assert "episodes" not in layers_on(WorkingSettings(), LearningSettings(kinds=[]))


def test_every_measure_is_one_of_the_traffic_and_has_words() -> None:
    triggers = [TABLE.lasting, *(trigger for layer in TABLE.layers for trigger in layer.triggers)]
    measures = advisor_data()["measure"]
    assert {one.measure for one in triggers} == set(measures)
    assert set(measures) <= {one.name for one in fields(Traffic)}
    assert all(measures[name][language] for name in measures for language in LANGUAGES)


def test_the_languages_say_the_same_things() -> None:
    words = advisor_data()["words"]
    assert set(words) == set(LANGUAGES)
    assert len({frozenset(words[language]) for language in LANGUAGES}) == 1
    assert all(set(words[language]["stand"]) == {one.value for one in Stand} for language in LANGUAGES)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sumary": {"messages": 3}}, "no thresholds of 'sumary'"),
        ({"buffer": {"messages": 3}}, "no thresholds of 'buffer'"),
        ({"summary": {"turns": 3}}, "'summary' is not decided by 'turns'; use messages"),
        ({"summary": 3}, "numbers by measure: messages"),
        ({"summary": {}}, "numbers by measure: messages"),
        ({"lasting": {"one_off_share": -0.1}}, "must be a number above 0, not -0.1"),
    ],
)
def test_a_threshold_that_cannot_be_used_is_told(given: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        TABLE.with_thresholds(given)


def test_changing_one_threshold_leaves_the_others() -> None:
    table = TABLE.with_thresholds({"window": {"turns": 40}, "lasting": {"one_off_share": 0.5}})
    window = next(layer for layer in table.layers if layer.name == "window")
    assert [one.threshold for one in window.triggers] == [40, 8000]
    assert table.lasting.threshold == 0.5
    assert shipped_table() == TABLE


def test_a_layer_or_a_language_that_there_is_not_is_told() -> None:
    with pytest.raises(InvalidInput, match="there is no layer 'sumary'; use buffer, window"):
        advise(SHORT, on=("sumary",))
    with pytest.raises(InvalidInput, match="advice is told in en, de, uk, not in 'fr'"):
        AdviceWords("fr")


def test_advice_is_told_with_the_numbers_that_decided() -> None:
    advice = advise(Traffic(sessions=1200, people=1, messages=45, turns=23, tokens=9000))
    assert list(AdviceWords().lines(advice)) == [
        "next: rolling summary: what is older than the window, in a few sentences",
        "  because: messages in a long session 45 (≥ 30)",
        '  switch it on: WorkingSettings(summary=SummaryPolicy(kind="rolling", threshold=30, keep_recent=15))',
    ]
    assert "Sitzungen: 1.200," in AdviceWords("de").traffic(advice)
    assert next(AdviceWords("uk").lines(advice)).startswith("далі: поточний підсумок")


def test_an_empty_traffic_is_told_as_such() -> None:
    assert list(AdviceWords().lines(advise(Traffic()))) == [AdviceWords().empty]


def test_a_spread_names_its_median_and_what_nine_in_ten_do_not_exceed() -> None:
    spread = Spread.of([(100, 1), (2, 8), (5, 1)])
    assert (spread.total, spread.median, spread.long, spread.largest) == (10, 2, 5, 100)
    assert (Spread(()).median, Spread(()).largest) == (0, 0)
