"""What the loaders read from the real files, where they are there."""

from collections import Counter
from pathlib import Path

import pytest

from retentia.evals import Dataset
from retentia.evals.loaders import load_beam, load_lifebench, load_locomo, load_metatool, load_xquad

DATA = Path(__file__).parents[3] / "shared" / "data"

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the benchmark data folder ../shared/data is absent")


def _scored(dataset: Dataset) -> Counter[str]:
    return Counter(question.category for group in dataset.groups for question in group.scored)


def test_locomo_has_760_questions_with_evidence_over_2760_turns() -> None:
    dataset = load_locomo(DATA / "locomo" / "locomo_dev.json")
    assert [len(group.entries) for group in dataset.groups] == [419, 369, 663, 629, 680]
    assert _scored(dataset) == {"single-hop": 418, "temporal": 156, "multi-hop": 142, "open-domain": 44}
    assert sum(len(group.unanswerable) for group in dataset.groups) == 237


def test_locomo_corrections_change_gold_and_no_counts() -> None:
    path = DATA / "locomo" / "locomo_dev.json"
    cited, corrected = load_locomo(path), load_locomo(path, corrections=DATA / "locomo" / "audit_dev.json")
    pairs = zip(cited.groups, corrected.groups, strict=True)
    changed = [
        one.id for old, new in pairs for one, two in zip(old.scored, new.scored, strict=True) if one.gold != two.gold
    ]
    assert _scored(cited) == _scored(corrected)
    assert len(changed) >= 50


def test_beam_has_nine_abilities_with_gold_and_no_generator_markers() -> None:
    dataset = load_beam(DATA / "beam" / "100K")
    entries = [entry for group in dataset.groups for entry in group.entries]
    assert len(dataset.groups) == 8
    assert len(entries) == 1818
    assert set(_scored(dataset).values()) == {16}
    assert len(_scored(dataset)) == 9
    assert not [entry.text[-40:] for entry in entries if "->->" in entry.text.replace(" ", "")]


def test_a_fifth_of_the_beam_gold_was_said_by_the_assistant() -> None:
    dataset = load_beam(DATA / "beam" / "100K")
    roles = Counter(
        entry.role
        for group in dataset.groups
        for question in group.scored
        for entry in group.entries
        if entry.source in question.gold
    )
    assert roles == {"user": 353, "assistant": 95}


def test_metatool_has_4000_requests_for_one_of_199_tools() -> None:
    (group,) = load_metatool(DATA / "metatool").groups
    assert len(group.entries) == 199
    assert len(group.scored) == len(group.questions) == 4000
    assert len(load_metatool(DATA / "metatool", several=True).groups[0].scored) == 249


def test_xquad_has_612_questions_in_each_direction() -> None:
    dataset = load_xquad(DATA / "xquad")
    assert [len(group.entries) for group in dataset.groups] == [120, 120]
    assert _scored(dataset) == {"en→en": 612, "de→en": 612, "en→de": 612, "de→de": 612}


def test_lifebench_has_380_questions_with_evidence_over_a_year_of_two_phones() -> None:
    dataset = load_lifebench(DATA / "lifebench")
    assert [len(group.entries) for group in dataset.groups] == [4581, 2084]
    assert _scored(dataset).total() == 380
    assert sum(len(group.unanswerable) for group in dataset.groups) == 6
