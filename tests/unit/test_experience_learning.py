"""Skills, strategies and the learning curve, against values worked out by hand."""

from string import Formatter

import numpy as np
import pytest

from retentia.errors import InvalidInput
from retentia.experience.curve import Trend, curve_from, curve_of
from retentia.experience.remembered import Remembered
from retentia.experience.skills import Skill, skills_from, skills_of
from retentia.experience.strategy import Rule, choose, pool
from retentia.experience.words import words
from retentia.model.experience import Experience, Feedback, Outcome, Task
from retentia.model.time import Moment

SOLVED, FAILED = Outcome.SUCCESS, Outcome.FAILURE


def experience(outcome: Outcome, strategy: str = "", *, reward: float = 0.5, second: int = 0) -> Experience:
    return Experience(
        task=Task(description="Sort a list of dates", category="debugging"),
        solution="sorted(dates)",
        feedback=Feedback(reward=reward),
        outcome=outcome,
        at=Moment.at(second * 1_000_000),
        iterations=second + 1,
        strategy=strategy,
    )


def similar(*told: tuple[str, Outcome], likeness: float = 0.9) -> list[Remembered]:
    return [
        Remembered(
            experience=experience(outcome, strategy, second=place),
            similarity=likeness - place / 100,
            recency=1.0,
            priority=0.5,
            score=0.5,
        )
        for place, (strategy, outcome) in enumerate(told)
    ]


def skill(successes: int, count: int) -> Skill:
    return Skill(category="testing", count=count, successes=successes, average_reward=0.5, average_iterations=1.0)


def fields_of(text: str) -> set[str | None]:
    return {field for _, field, _, _ in Formatter().parse(text) if field}


def test_a_skill_counts_averages_and_rates_each_category() -> None:
    found = skills_from(["b", "a", "b", "b"], [1, 0, 0, 0], [1.0, 0.2, 0.5, 0.0], [1, 2, 3, 5])
    assert list(found) == ["a", "b"]
    assert (found["b"].count, found["b"].successes, found["b"].average_reward) == (3, 1, 0.5)
    assert found["b"].average_iterations == 3.0
    assert found["b"].success_rate == pytest.approx(1 / 3)


@pytest.mark.parametrize(("successes", "count", "weak"), [(1, 2, False), (2, 5, True), (0, 1, True), (0, 0, False)])
def test_a_category_is_weak_below_half_and_never_untried(successes: int, count: int, weak: bool) -> None:
    assert skill(successes, count).is_weak is weak


def test_what_is_weak_is_for_the_caller_to_say() -> None:
    told = [experience(SOLVED), experience(FAILED)]
    assert not skills_of(told)["debugging"].is_weak
    assert skills_of(told, weak_below=0.6)["debugging"].is_weak
    with pytest.raises(InvalidInput, match="weak_below"):
        skills_of(told, weak_below=2)
    with pytest.raises(InvalidInput, match="column"):
        skills_from(["a"], [1, 0], [1.0], [1])


def test_a_strategy_that_solved_most_similar_tasks_is_chosen_with_its_numbers() -> None:
    told = similar(*[("conservative", SOLVED)] * 4, ("conservative", FAILED))
    choice = choose(told, skill(0, 9), 0.9)
    assert (choice.strategy, choice.rule, choice.successes, choice.count) == ("conservative", Rule.PROVEN, 4, 5)
    assert choice.reason == "4 of 5 similar tasks solved with conservative"
    assert choice.instruction == pool()["conservative"]


@pytest.mark.parametrize(
    "told",
    [
        [("conservative", SOLVED)],  # one task is no evidence
        [("conservative", SOLVED)] * 3 + [("conservative", FAILED)] * 2,  # .6 is not more than .6
        [("", SOLVED)] * 5,  # what has no name is no strategy
        [("", FAILED)] * 5 + [("conservative", SOLVED)] * 5,  # only the five nearest are asked
        [("conservative", Outcome.PARTIAL)] * 5,
    ],
)
def test_a_strategy_without_enough_success_of_its_own_is_not_chosen(told: list[tuple[str, Outcome]]) -> None:
    assert choose(similar(*told), None, 0.5).rule is Rule.USUAL


def test_its_own_success_counts_and_not_that_of_its_neighbours() -> None:
    told = similar(("a", FAILED), ("b", SOLVED), ("b", SOLVED), ("a", SOLVED), ("a", FAILED))
    assert choose(told, None, 0.5).strategy == "b"


def test_the_rules_stand_in_their_order() -> None:
    assert choose([], skill(1, 9), 0.9).strategy == "defensive"
    assert choose([], skill(9, 9), 0.9).rule is Rule.COMPLEX


@pytest.mark.parametrize(
    ("complexity", "strategy", "rule"),
    [
        (0.71, "iterative", Rule.COMPLEX),
        (0.7, "iterative", Rule.USUAL),
        (0.3, "iterative", Rule.USUAL),
        (0.29, "exploratory", Rule.SIMPLE),
    ],
)
def test_without_evidence_complexity_decides(complexity: float, strategy: str, rule: Rule) -> None:
    choice = choose([], None, complexity)
    assert (choice.strategy, choice.rule, choice.count) == (strategy, rule, 0)


@pytest.mark.parametrize(
    ("told", "winner"),
    [
        ([("a", SOLVED), ("a", SOLVED), ("a", FAILED), ("b", SOLVED), ("b", SOLVED)], "b"),  # the higher rate
        ([("a", SOLVED), ("a", SOLVED), ("b", SOLVED), ("b", SOLVED), ("b", SOLVED)], "b"),  # then more evidence
        ([("b", SOLVED), ("a", SOLVED), ("b", SOLVED), ("a", SOLVED)], "b"),  # then the nearer
    ],
)
def test_between_proven_strategies_rate_decides_then_evidence_then_nearness(
    told: list[tuple[str, Outcome]], winner: str
) -> None:
    assert choose(similar(*told), None, 0.5).strategy == winner


def test_a_reason_is_given_in_the_language_asked_for() -> None:
    told = similar(*[("iterative", SOLVED)] * 2)
    assert choose(told, None, 0.5, language="de").reason == "2 von 2 ähnlichen Aufgaben mit iterative gelöst"
    assert choose(told, None, 0.5, language="uk").reason.startswith("2 з 2 схожих завдань")
    with pytest.raises(InvalidInput, match="en, de, uk"):
        choose(told, None, 0.5, language="fr")


def test_the_pool_grows_by_strategies_of_ones_own() -> None:
    choice = choose(similar(*[("pair", SOLVED)] * 2), None, 0.5, own={"pair": "Ask a colleague to look along."})
    assert choice.instruction == "Ask a colleague to look along."
    assert set(pool(own={"pair": "x"})) == {*pool(), "pair"}
    with pytest.raises(InvalidInput, match="instruction"):
        pool(own={"pair": " "})


@pytest.mark.parametrize(("complexity", "evidence"), [(1.1, 2), (float("nan"), 2), (0.5, 0)])
def test_what_cannot_be_asked_of_a_choice_is_refused(complexity: float, evidence: int) -> None:
    with pytest.raises(InvalidInput):
        choose([], None, complexity, min_evidence=evidence)


def test_every_language_knows_the_same_words() -> None:
    assert list(pool("en")) == list(pool("de")) == list(pool("uk"))
    english = words("en")
    for language in ("de", "uk"):
        other = words(language)
        assert list(other) == list(english)
        assert [fields_of(other[name]) for name in other] == [fields_of(english[name]) for name in english]


def test_a_curve_adds_up_rewards_and_averages_the_last_ones() -> None:
    told = [experience(SOLVED if n % 2 else FAILED, reward=n / 10, second=n) for n in range(7)]
    curve = curve_of(told[::-1])
    assert curve.cumulative_reward == pytest.approx((0, 0.1, 0.3, 0.6, 1.0, 1.5, 2.1))
    assert curve.rolling_reward == pytest.approx((0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4))
    assert curve.rolling_success == pytest.approx((0, 0.5, 1 / 3, 0.5, 0.4, 0.6, 0.4))
    assert curve.verdict.trend is Trend.TOO_FEW


def test_a_true_rise_is_called_rising_and_its_mirror_falling() -> None:
    rise = np.linspace(0.2, 0.8, 30)
    rising = curve_from(rise, rise).verdict
    assert rising.trend is Trend.RISING
    numbers = (rising.correlation, rising.first, rising.last)
    assert numbers == pytest.approx((1.0, rise[:10].mean(), rise[-10:].mean()))
    assert curve_from(rise[::-1], rise).verdict.trend is Trend.FALLING


def test_what_does_not_change_or_hardly_changes_is_flat() -> None:
    same, hardly = np.full(30, 0.9), np.linspace(0.5, 0.51, 30)
    assert curve_from(same, same).verdict.trend is Trend.FLAT
    assert curve_from(hardly, hardly).verdict.trend is Trend.FLAT


def test_chance_is_rarely_called_a_trend() -> None:
    chance = np.random.default_rng(7)
    trends = [curve_from(one, one).verdict.trend for one in chance.random((1000, 40))]
    assert trends.count(Trend.RISING) + trends.count(Trend.FALLING) < 80


def test_a_verdict_says_its_numbers_in_three_languages() -> None:
    rise = np.linspace(0.2, 0.8, 30)
    said = [curve_from(rise, rise).verdict.text(code) for code in ("en", "de", "uk")]
    assert said[0].startswith("Rising: memory helps. 30 experiences, mean reward 0.29 in the first third, 0.71")
    assert said[0].endswith("rank correlation with time +1.00, p < 0.001.")
    assert len(set(said)) == 3
    assert curve_from(rise[:3], rise[:3]).verdict.text() == "Too few experiences to tell: 3, at least 10 are needed."


def test_a_curve_of_unequal_columns_or_without_a_window_is_refused() -> None:
    with pytest.raises(InvalidInput, match="window"):
        curve_from(np.zeros(3), np.zeros(2))
    with pytest.raises(InvalidInput, match="window"):
        curve_of([], window=0)


def test_a_window_wider_than_any_history_is_that_of_all() -> None:
    ones = np.ones(4)
    assert curve_from(ones, ones, window=10**30).rolling_reward == curve_from(ones, ones, window=4).rolling_reward
