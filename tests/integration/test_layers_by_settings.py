"""Which layers of memory are on can be said once, in the settings; a call can say otherwise."""

from collections.abc import Collection
from pathlib import Path

import pytest

from retentia import Memory, Message, Scope
from retentia.errors import InvalidInput
from retentia.learn.inline import LearningSettings
from retentia.learn.relations import Relations
from retentia.model.message import JSON
from retentia.model.record import ITEM_KINDS, Kind
from retentia.providers.chat.models import Models
from retentia.security.access import Principal
from retentia.testing import FakeModel
from retentia.working.opening import OpeningPolicy
from retentia.working.settings import WorkingSettings
from retentia.working.strategy import Strategy

ME = Scope("acme", "anna")
SAID = ["I live in Porto.", "I promise to send the report by Friday.", "Always answer me in short sentences."]
WITH_FACTS = Strategy(semantic=False)


def opened(folder: Path, working: WorkingSettings | None = None, learning: LearningSettings | None = None) -> Memory:
    return Memory.open(folder / "m.db", embedder=None, worker=False, working=working, learning=learning)


def learned(folder: Path, kinds: Collection[Kind]) -> set[Kind]:
    with opened(folder, learning=LearningSettings(kinds=kinds)) as memory:
        memory.add([Message(role="user", content=text) for text in SAID], scope=ME, session="a")
        return {kind for kind in ITEM_KINDS if memory.records(scope=ME, kind=kind).records}


def test_the_strategy_of_the_settings_makes_a_context_and_a_call_can_say_otherwise(tmp_path: Path) -> None:
    with opened(tmp_path, WorkingSettings(strategy=WITH_FACTS)) as memory:
        memory.add(Message(role="user", content="I live in Porto."), scope=ME, session="a")
        assert "Porto" in memory.context("Book a table", scope=ME, session="b").text()
        assert "Porto" not in memory.context("Book a table", scope=ME, session="b", strategy=Strategy.of([])).text()
        acting = memory.acting_as(Principal(id="anna", role="person", tenant="acme", user="anna"))
        assert "Porto" in acting.context("Book a table", scope=ME, session="b").text()


def test_the_opening_of_the_settings_brings_the_records_of_sessions(tmp_path: Path) -> None:
    opening = OpeningPolicy(profile_items=0, open_items=0)
    with opened(tmp_path, WorkingSettings(strategy=WITH_FACTS, opening=opening)) as memory:
        memory.add(Message(role="user", content="We decided to plant quinces."), scope=ME, session="a")
        memory.checkpoint(scope=ME, session="a", end=True)
        assert "quinces" in memory.context("Hello", scope=ME, session="b").text()


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.COMMITMENT, Kind.PROCEDURE])
def test_only_the_kinds_of_the_settings_are_learned(tmp_path: Path, kind: Kind) -> None:
    assert learned(tmp_path, {kind}) == {kind}


def test_all_kinds_are_learned_where_nothing_is_said(tmp_path: Path) -> None:
    assert learned(tmp_path, LearningSettings().kinds) >= {Kind.FACT, Kind.COMMITMENT, Kind.PROCEDURE}


def test_without_relations_what_is_said_of_the_person_is_learned_as_before(tmp_path: Path) -> None:
    none = LearningSettings(relations=Relations(by_name={}, types={}, generic={}))
    with opened(tmp_path, learning=none) as memory:
        memory.add(Message(role="user", content="I live in Porto. Billing depends on Ledger."), scope=ME)
        assert [one.text for one in memory.records(scope=ME, kind="fact").records] == ["I live in Porto."]


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.EVENT])
def test_a_model_proposes_only_the_kinds_of_the_settings(tmp_path: Path, kind: Kind) -> None:
    quote = "The database I use in the shop is called ClickHouse"
    found: dict[str, JSON] = {
        "kind": "fact", "message": "m1", "quote": quote, "subject": "user", "attribute": "uses", "value": "ClickHouse",
        "is_not": False, "manner": "asserted", "since": "", "until": "", "applies_to": "", "due": "", "reasons": [],
        "rejected": [],
    }  # fmt: skip
    model = FakeModel({"items": [found]})
    learning = LearningSettings(kinds={kind})
    models = Models(learn=model)
    with Memory.open(tmp_path / "m.db", embedder=None, worker=False, learning=learning, models=models) as memory:
        memory.add(Message(role="user", content=f"{quote}, to everyone's surprise."), scope=ME, session="a")
        memory.checkpoint(scope=ME, session="a", end=True)
        assert len(memory.facts.inbox(scope=ME)) == (kind is Kind.FACT)


def test_what_is_no_item_cannot_be_learned() -> None:
    with pytest.raises(InvalidInput, match="no kind that is learned"):
        LearningSettings(kinds=[Kind.MESSAGE])
