"""The labelled dialogues, and how what is kept of them is scored."""

import json

import pytest
from click.testing import CliRunner

from retentia.cli.main import cli
from retentia.evals.kept import ALL, HALVES, LANGUAGES, Dialogue, Half, Mark, load_dialogues, outcomes, score_kept
from retentia.working.kept import KeptKind
from retentia.working.original import Original

SAID = "We decided on tiles. It rains."


def dialogue(*marks: Mark) -> Dialogue:
    return Dialogue(
        language="en", about="floors", messages=(Original(id="m0", role="user", text=SAID),), marks=tuple(marks)
    )


@pytest.mark.parametrize("half", HALVES)
def test_each_half_has_ten_dialogues_a_language_of_many_walks_of_life(half: Half) -> None:
    found = load_dialogues(half)
    assert min(sum(one.language == code for one in found) for code in LANGUAGES) >= 10
    assert len({one.about for one in found}) >= 20
    assert all(6 <= len(one.messages) <= 15 for one in found)
    assert {mark.kind for one in found for mark in one.marks} == set(KeptKind)


@pytest.mark.parametrize("half", HALVES)
def test_a_mark_holds_a_whole_sentence_and_leaves_no_trace_in_the_text(half: Half) -> None:
    for one in load_dialogues(half):
        texts = {message.id: message.text for message in one.messages}
        assert not any("<" in text or "</>" in text for text in texts.values())
        assert all(texts[mark.message_id][mark.start : mark.end].strip() for mark in one.marks)


def test_no_dialogue_is_in_both_halves() -> None:
    first, second = ({one.messages for one in load_dialogues(half)} for half in HALVES)
    assert first.isdisjoint(second)


def test_what_is_found_in_its_place_is_right_elsewhere_wrong_and_the_rest_missed() -> None:
    right = Mark(KeptKind.DECISION, "m0", 0, 20)
    assert list(outcomes(dialogue(right))) == [(KeptKind.DECISION, "right")]
    elsewhere = Mark(KeptKind.DECISION, "m0", 21, 30)
    assert list(outcomes(dialogue(elsewhere))) == [(KeptKind.DECISION, "wrong"), (KeptKind.DECISION, "missed")]
    other = Mark(KeptKind.GOAL, "m0", 0, 20)
    assert list(outcomes(dialogue(other))) == [(KeptKind.DECISION, "wrong"), (KeptKind.GOAL, "missed")]


@pytest.mark.parametrize("half", HALVES)
def test_what_is_kept_stays_as_right_as_it_was_measured(half: Half) -> None:
    scores = score_kept(load_dialogues(half))
    for kind in (KeptKind.DECISION, KeptKind.REJECTED, KeptKind.ENVIRONMENT):
        assert scores[kind][ALL].precision >= 0.9
        assert scores[kind][ALL].recall >= 0.7
    assert min(one.precision for one in scores[ALL].values()) >= 0.9


def test_the_command_prints_both_halves_by_kind_and_language() -> None:
    done = CliRunner().invoke(cli, ["eval", "kept", "--json"])
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout)
    assert list(made) == list(HALVES)
    assert set(made["held_out"]) == {*KeptKind, ALL}
    assert set(made["held_out"]["decision"]) == {*LANGUAGES, ALL}
    people = CliRunner().invoke(cli, ["eval", "kept"])
    assert "held_out: 33 dialogues" in people.stdout
    assert max(map(len, people.stdout.splitlines())) <= 80
