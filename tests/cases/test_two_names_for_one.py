"""Two names that may be one: proposed with the reason, merged by a person only, and taken back again."""

from collections.abc import Iterator

import pytest

from retentia import Memory, Scope
from retentia.errors import InvalidInput
from retentia.learn.aliases import Likeness

TEAM = Scope("acme", "team")
SAID = (
    "Dr. Anna Meier works for Globex.",
    "Anna Meier is responsible for Billing.",
    "Boris Stone is responsible for Search.",
)


@pytest.fixture
def memory(store_url: str) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=None, worker=False) as opened:
        for said in SAID:
            opened.add(said, scope=TEAM)
        yield opened


def test_two_names_are_proposed_as_one_with_the_reason_and_nothing_is_merged(memory: Memory) -> None:
    before = [one.claim for one in memory.facts.history(scope=TEAM, subject="Anna Meier")]
    (proposal,) = memory.facts.alias_proposals(scope=TEAM)
    assert {proposal.first.name, proposal.second.name} == {"Dr. Anna Meier", "Anna Meier"}
    assert proposal.likeness is Likeness.TITLE
    assert [one.claim for one in memory.facts.history(scope=TEAM, subject="Anna Meier")] == before
    assert memory.facts.chains("Who does Anna Meier work for?", scope=TEAM).best is None


def test_chains_follow_both_names_once_a_person_says_that_they_are_one(memory: Memory) -> None:
    memory.facts.merge_names("Anna Meier", "Dr. Anna Meier", scope=TEAM)
    for name in ("Anna Meier", "Dr. Anna Meier"):
        answer = memory.facts.chains(f"Who does {name} work for?", scope=TEAM).best
        assert answer is not None
        assert answer.answer == "Globex"
    assert memory.facts.alias_proposals(scope=TEAM) == []


def test_a_merge_is_taken_back_like_any_belief(memory: Memory) -> None:
    merged = memory.facts.merge_names("Anna Meier", "Dr. Anna Meier", scope=TEAM)
    assert merged.record_id is not None
    memory.facts.retract(merged.record_id, scope=TEAM, reason="two people")
    assert memory.facts.chains("Who does Anna Meier work for?", scope=TEAM).best is None


def test_a_name_is_not_merged_with_itself(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="one name already"):
        memory.facts.merge_names("Anna Meier", "anna meier", scope=TEAM)
