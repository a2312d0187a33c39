import struct
import zlib
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retentia.experience.curve import Trend, curve_from
from retentia.experience.curve_picture import blocks, svg, thinned
from retentia.experience.curve_png import png
from retentia.experience.remembered import Remembered
from retentia.experience.skills import skills_of
from retentia.experience.strategy import choose
from retentia.model.experience import Experience, Feedback, Outcome, Task
from retentia.model.time import Moment

UNIT = st.floats(0, 1)
EXPERIENCES = st.builds(
    lambda category, strategy, reward, outcome, iterations: Experience(
        task=Task(description="Sort", category=category),
        solution="",
        feedback=Feedback(reward=reward),
        outcome=outcome,
        at=Moment.at(0),
        iterations=iterations,
        strategy=strategy,
    ),
    st.sampled_from("ab"),
    st.sampled_from(["", "iterative", "pair"]),
    UNIT,
    st.sampled_from(Outcome),
    st.integers(1, 9),
)
REMEMBERED = st.builds(
    lambda told, similarity: Remembered(
        experience=told, similarity=similarity, recency=1.0, priority=0.5, score=similarity
    ),
    EXPERIENCES,
    st.sampled_from([0.2, 0.5, 0.9]),
)


@given(st.lists(EXPERIENCES, max_size=30))
def test_skills_equal_a_count_by_hand(told: list[Experience]) -> None:
    found = skills_of(told)
    assert set(found) == {one.task.category for one in told}
    for name, skill in found.items():
        own = [one for one in told if one.task.category == name]
        assert (skill.count, skill.successes) == (len(own), sum(one.is_success for one in own))
        assert skill.average_reward == pytest.approx(sum(one.feedback.reward for one in own) / len(own))
        assert skill.average_iterations == pytest.approx(sum(one.iterations for one in own) / len(own))
        assert 0 <= skill.success_rate <= 1


@given(st.lists(REMEMBERED, max_size=9).flatmap(lambda told: st.tuples(st.just(told), st.permutations(told))), UNIT)
def test_a_choice_does_not_depend_on_the_order_of_what_is_remembered(
    orders: tuple[list[Remembered], list[Remembered]], complexity: float
) -> None:
    assert choose(orders[0], None, complexity) == choose(orders[1], None, complexity)
    assert choose(orders[0], None, complexity).strategy


@given(st.lists(st.tuples(UNIT, st.booleans()), max_size=40), st.integers(1, 9))
def test_rolling_numbers_equal_a_naive_calculation(told: list[tuple[float, bool]], window: int) -> None:
    rewards = [reward for reward, _ in told]
    solved = [float(is_solved) for _, is_solved in told]
    curve = curve_from(np.array(rewards), np.array(solved), window=window)
    for place in range(len(told)):
        last = slice(max(0, place + 1 - window), place + 1)
        assert curve.cumulative_reward[place] == pytest.approx(sum(rewards[: place + 1]))
        assert curve.rolling_reward[place] == pytest.approx(np.mean(rewards[last]), abs=1e-9)
        assert curve.rolling_success[place] == pytest.approx(np.mean(solved[last]))
        assert 0 <= curve.rolling_reward[place] <= 1


@given(st.lists(UNIT, min_size=10, max_size=60))
def test_a_verdict_turns_round_with_time(rewards: list[float]) -> None:
    there, back = (curve_from(one, one).verdict for one in (np.array(rewards), np.array(rewards[::-1])))
    mirror = {Trend.RISING: Trend.FALLING, Trend.FALLING: Trend.RISING, Trend.FLAT: Trend.FLAT}
    assert back.trend is mirror[there.trend]
    assert 0 <= there.p <= 1


@given(st.lists(UNIT, max_size=40), st.text(), st.sampled_from(["en", "de", "uk"]))
def test_a_picture_is_well_formed_whatever_its_title(rewards: list[float], title: str, language: str) -> None:
    values = np.array(rewards)
    curve = curve_from(values, np.round(values))
    root = ElementTree.fromstring(svg(curve, title=title, language=language))
    title_and_words = [root.find("{*}title"), root.find("{*}desc")]
    ids = [one.get("id") for one in title_and_words if one is not None]
    assert root.get("aria-labelledby", "").split() == ids
    assert not root.findall(".//{*}script")
    assert max(map(len, blocks(curve, width=20, language=language).splitlines()[1:-1:2])) <= 20


@settings(max_examples=10)
@given(st.integers(0, 700), st.booleans(), st.integers(1, 10**9))
def test_a_png_has_the_pixels_it_says(count: int, dark: bool, window: int) -> None:
    values = np.linspace(0, 1, count)
    raw = png(curve_from(values, values, window=window), dark=dark)
    assert raw.startswith(b"\x89PNG\r\n\x1a\n")
    place, told = 8, {}
    while place < len(raw):
        length, name = struct.unpack(">I4s", raw[place : place + 8])
        data = raw[place + 8 : place + 8 + length]
        assert zlib.crc32(name + data) == struct.unpack(">I", raw[place + 8 + length : place + 12 + length])[0]
        told[name] = data
        place += 12 + length
    width, height = struct.unpack(">II", told[b"IHDR"][:8])
    pixels = zlib.decompress(told[b"IDAT"])
    assert len(pixels) == height * (1 + 3 * width)
    assert len(set(pixels)) > 2


@given(st.lists(UNIT, max_size=300), st.integers(1, 100))
def test_thinning_keeps_the_number_of_points_and_the_range(values: list[float], most: int) -> None:
    points = thinned(values, most)
    assert len(points) == min(len(values), most)
    assert all(min(values) - 1e-9 <= value <= max(values) + 1e-9 for _, value in points)
