"""The labelled dialogues of learning, and how what is learned from them is scored."""

import json

import pytest
from click.testing import CliRunner

from retentia.cli.main import cli
from retentia.evals.learning import LANGUAGES, outcomes, report
from retentia.evals.learning_dialogues import HALVES, Dialogue, Expected, Half, load_dialogues
from retentia.working.original import Original

KINDS = {
    "stated", "inferred", "forced", "hypothetical", "third person", "assistant-said", "corrected", "reported",
    "negated", "sarcastic-looking", "multi-valued", "future-dated", "question", "small talk", "instruction",
    "commitment", "event", "explicit remember", "tool", "pasted text", "greeting", "decision", "possible", "former",
}  # fmt: skip


def dialogue(said: str, **expected: tuple[Expected, ...]) -> Dialogue:
    nothing: dict[str, tuple[Expected, ...]] = dict.fromkeys(("stated", "candidate", "others", "allowed", "never"), ())
    return Dialogue(
        id="one",
        language="en",
        kinds=("stated",),
        messages=(Original(id="m0", role="user", text=said),),
        items=(),
        **{**nothing, **expected},
    )


def home(value: str, *, is_not: bool = False) -> Expected:
    return Expected("user", "home", frozenset({value}), is_not)


@pytest.mark.parametrize("half", HALVES)
def test_each_half_has_every_kind_of_talk_in_every_language(half: Half) -> None:
    found = load_dialogues(half)
    assert min(sum(one.language == code for one in found) for code in LANGUAGES) >= 25
    for code in LANGUAGES:
        kinds = {kind for one in found if one.language == code for kind in one.kinds}
        assert kinds >= KINDS
    assert len({one.id for one in found}) == len(found)


def test_no_dialogue_is_in_both_halves() -> None:
    first, second = ({one.messages for one in load_dialogues(half)} for half in HALVES)
    assert first.isdisjoint(second)


def test_what_is_expected_is_right_the_rest_wrong_or_missed() -> None:
    said = "I live in Kyiv."
    assert [one.outcome for one in outcomes(dialogue(said, stated=(home("kyiv"),)))] == ["right"]
    assert [one.outcome for one in outcomes(dialogue(said, stated=(home("lviv"),)))] == ["wrong", "missed"]
    assert [one.outcome for one in outcomes(dialogue(said, stated=(home("kyiv", is_not=True),)))] == ["wrong", "missed"]
    assert list(outcomes(dialogue(said, allowed=(home("kyiv"),)))) == []


def test_to_deny_what_must_not_be_believed_is_no_mistake() -> None:
    assert list(outcomes(dialogue("I don't live in Kyiv.", never=(home("kyiv"),)))) == []


@pytest.mark.parametrize("half", HALVES)
def test_what_is_learned_stays_as_right_as_it_was_measured(half: Half) -> None:
    made = report(load_dialogues(half))
    assert made.must_not == 0
    assert made.scores["stored"].precision >= 0.98
    assert made.scores["stored"].recall >= 0.9
    assert min(made.scores[f"stored {code}"].recall for code in LANGUAGES) >= 0.8
    assert made.scores["stopped by grounding"].precision >= 0.95
    assert all(one.right >= one.said - 0.1 for one in made.bins if one.readings >= 10)


def test_the_command_ends_with_one_json_object() -> None:
    done = CliRunner().invoke(cli, ["eval", "learning", "--json"])
    assert done.exit_code == 0, done.output
    made = json.loads(done.stdout.splitlines()[-1])
    assert list(made) == list(HALVES)
    assert made["held_out"]["must_not_stored"] == 0
    assert {"stored", "stored uk", "in forced", "commitment"} <= set(made["held_out"]["scores"])
    people = CliRunner().invoke(cli, ["eval", "learning"])
    assert "held_out: confidence" in people.stdout
    assert max(map(len, people.stdout.splitlines())) <= 80
