"""Standing orders items that match alike, never beats a clearly better match, and leaves messages alone."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from retentia import Scope
from retentia.index.ranking import RankedRecord
from retentia.model.ids import id_bytes, id_text, new_id_bytes
from retentia.model.provenance import Trust
from retentia.model.record import Importance, ItemRecord, Kind, Record, Status
from retentia.model.time import Moment
from retentia.read.standing import Circumstances, StandingWeights, by_standing, names_one

DAY = 86_400_000_000
NOW = 40_000 * DAY
WEIGHTS = StandingWeights()
CLEARLY = 0.15
statuses = st.sampled_from([Status.STATED, Status.CONFIRMED])
importances = st.sampled_from(list(Importance))
kinds = st.sampled_from([Kind.FACT, Kind.EVENT, Kind.NOTE, Kind.DECISION, Kind.KNOWLEDGE])
days = st.integers(0, 20_000)
scores = st.floats(0, 1.5)


def item(
    kind: Kind = Kind.FACT,
    *,
    status: Status = Status.STATED,
    importance: Importance = Importance.NORMAL,
    days_old: int = 0,
) -> ItemRecord:
    said = NOW - days_old * DAY
    return ItemRecord(
        id=id_text(new_id_bytes()),
        kind=kind,
        scope=Scope("acme", "anna"),
        text="I live in Lisbon",
        occurred=Moment.at(said),
        recorded_at=said,
        trust=Trust.PERSON,
        status=status,
        confidence=1.0,
        importance=importance,
        valid_from=None,
        valid_to=None,
        seen_count=1,
        version=1,
        author="",
    )


items = st.builds(item, kinds, status=statuses, importance=importances, days_old=days)


def ranked(record: Record, score: float) -> RankedRecord:
    return RankedRecord(id_bytes(record.id), record.kind.value, score, {"lexical": score}, ())


def order(pairs: list[tuple[Record, float]], **given: object) -> list[RankedRecord]:
    found = {id_bytes(record.id): record for record, _ in pairs}
    circumstances = replace(Circumstances(now=NOW, shown={}), **given)  # type: ignore[arg-type]
    return by_standing([ranked(record, score) for record, score in pairs], found, circumstances, WEIGHTS)


def score_of(record: Record, **given: object) -> float:
    return order([(record, 0.5)], **given)[0].score


@given(items)
def test_what_is_confirmed_scores_more_than_what_was_only_said(one: ItemRecord) -> None:
    assert score_of(replace(one, status=Status.CONFIRMED)) > score_of(replace(one, status=Status.STATED))


@given(items)
def test_the_more_important_the_higher(one: ItemRecord) -> None:
    low, normal, high = (score_of(replace(one, importance=level)) for level in Importance)
    assert low < normal < high


@given(items, days)
def test_what_was_shown_later_never_scores_less(one: ItemRecord, later: int) -> None:
    never, shown = score_of(one), score_of(one, shown={id_bytes(one.id): one.recorded_at + later * DAY})
    assert never <= shown


@given(days, st.integers(1, 400))
def test_events_fade_with_every_day_and_facts_never_do(age: int, more: int) -> None:
    used = NOW  # shown just now, so that only fading differs
    for kind, fades in ((Kind.EVENT, True), (Kind.NOTE, True), (Kind.FACT, False), (Kind.DECISION, False)):
        young, old = item(kind, days_old=age), item(kind, days_old=age + more)
        scores_of = [score_of(one, shown={id_bytes(one.id): used}) for one in (young, old)]
        assert (scores_of[0] > scores_of[1]) is fades
        assert (scores_of[0] == scores_of[1]) is not fades


@given(days)
def test_nothing_fades_where_the_question_names_a_date_or_a_thing(age: int) -> None:
    old = item(Kind.EVENT, days_old=age)
    shown = {id_bytes(old.id): NOW}
    assert score_of(old, shown=shown, fades=False) == 0.5
    assert names_one("What happened in 2019?")
    assert names_one("Who wrote “The Little Prince”?")
    assert names_one("Where is order 88412?")
    assert not names_one("Where do I live?")


@given(items, items, scores)
def test_standing_never_beats_a_clearly_better_match(worse: ItemRecord, better: ItemRecord, score: float) -> None:
    assert WEIGHTS.most < CLEARLY
    first = order([(worse, score), (better, score + CLEARLY)])[0]
    assert first.record_id == id_bytes(better.id)


@given(st.lists(scores, max_size=8))
def test_records_that_are_no_items_keep_score_and_signals(given_scores: list[float]) -> None:
    there = [(replace_with_message(item()), score) for score in sorted(given_scores, reverse=True)]
    assert order(there) == [ranked(record, score) for record, score in there]


def replace_with_message(one: ItemRecord) -> Record:
    return Record(
        id=one.id, kind=Kind.MESSAGE, scope=one.scope, text=one.text, occurred=None, recorded_at=0, trust=one.trust
    )
