"""Consolidation keeps one of each that says the same, quotes whole, and comes to rest after one run."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from retentia import Scope
from retentia.learn.consolidate import (
    MOST_CONFIDENT,
    is_topic,
    is_whole,
    merges,
    raises,
    same_words,
    supported,
    topic_text,
)
from retentia.learn.topics import FEWEST_MEMBERS, MOST_MEMBERS, gather
from retentia.model.ids import id_text
from retentia.model.provenance import Source, Trust
from retentia.model.record import Importance, ItemRecord, Kind, Status
from retentia.model.time import Moment

WORDS = ("roses", "garden", "house", "tram", "Porto", "gearbox", "312.50", "EUR", "7:45", "not", "-5", "Київ", "Größe")
words = st.sampled_from(WORDS)
sentences = st.lists(words, min_size=1, max_size=7).map(" ".join)
kinds = st.sampled_from([Kind.FACT, Kind.EVENT, Kind.NOTE, Kind.KNOWLEDGE])


@st.composite
def known(draw: st.DrawFn, least: int = 0) -> list[ItemRecord]:
    told = draw(
        st.lists(
            st.tuples(
                sentences,
                kinds,
                st.sampled_from([Status.STATED, Status.CONFIRMED]),
                st.sampled_from(list(Importance)),
                st.integers(0, 3),
                st.none() | st.integers(1, 4),
                st.sampled_from(["", ".", "!", ","]),
            ),
            min_size=least,
            max_size=14,
        )
    )
    return [
        item(number, text + mark, kind, status, importance, sources, expires_at)
        for number, (text, kind, status, importance, sources, expires_at, mark) in enumerate(told)
    ]


def item(
    number: int,
    text: str,
    kind: Kind = Kind.EVENT,
    status: Status = Status.STATED,
    importance: Importance = Importance.NORMAL,
    sources: int = 0,
    expires_at: int | None = None,
) -> ItemRecord:
    return ItemRecord(
        id=id_text(number.to_bytes(16, "big")),
        kind=kind,
        scope=Scope("acme", "anna"),
        text=text,
        occurred=Moment.at(1_780_000_000_000_000),
        recorded_at=number,
        trust=Trust.PERSON,
        expires_at=expires_at,
        status=status,
        confidence=0.6,
        importance=importance,
        valid_from=None,
        valid_to=None,
        seen_count=1,
        version=1,
        author="",
        sources=tuple(Source(kind="message", id=id_text(bytes([number, one] * 8))) for one in range(sources)),
    )


def left_of(some: list[ItemRecord]) -> list[ItemRecord]:
    gone = {one.id for merge in merges(some) for one in merge.gone}
    return [one for one in some if one.id not in gone]


def clusters(some: list[ItemRecord]) -> set[tuple[Kind, str]]:
    return {(one.kind, same_words(one.text)) for one in some}


@given(known())
def test_what_is_said_is_said_as_often_as_before_at_least_once(some: list[ItemRecord]) -> None:
    assert clusters(left_of(some)) == clusters(some)


@given(known())
def test_nothing_that_stays_goes_and_nothing_goes_twice(some: list[ItemRecord]) -> None:
    planned = merges(some)
    gone = [one.id for merge in planned for one in merge.gone]
    assert len(gone) == len(set(gone))
    assert not {merge.kept.id for merge in planned} & set(gone)


@given(known())
def test_what_stays_is_as_firm_as_important_and_as_lasting_as_what_goes(some: list[ItemRecord]) -> None:
    firm, weight = [Status.STATED, Status.CONFIRMED], list(Importance)
    for merge in merges(some):
        for one in merge.gone:
            assert firm.index(merge.kept.status) >= firm.index(one.status)
            assert weight.index(merge.kept.importance) >= weight.index(one.importance)
            assert merge.expires_at is None or (one.expires_at or 99) <= merge.expires_at


@given(known(), st.randoms())
def test_the_order_of_what_is_known_decides_nothing(some: list[ItemRecord], random: object) -> None:
    shuffled = list(some)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert [(one.kept.id, {gone.id for gone in one.gone}) for one in merges(shuffled)] == [
        (one.kept.id, {gone.id for gone in one.gone}) for one in merges(some)
    ]


@given(known())
def test_after_one_merge_there_is_nothing_to_merge(some: list[ItemRecord]) -> None:
    assert merges(left_of(some)) == []


@given(known())
def test_confidence_only_rises_up_to_a_cap_and_comes_to_rest(some: list[ItemRecord]) -> None:
    raised = {one.record.id: one.confidence for one in raises(some)}
    assert all(0.6 < value <= MOST_CONFIDENT for value in raised.values())
    after = [replace(one, confidence=raised.get(one.id, one.confidence)) for one in some]
    assert raises(after) == []
    assert all(old.status is new.status for old, new in zip(some, after, strict=True))


@given(st.integers(0, 50))
def test_more_sources_never_give_less_confidence(count: int) -> None:
    assert supported(count) <= supported(count + 1) <= MOST_CONFIDENT


@settings(max_examples=60, deadline=None)
@given(known(least=3), st.randoms())
def test_topics_say_all_of_their_members_and_come_to_rest(some: list[ItemRecord], random: object) -> None:
    found = gather(some, [], {})
    ids = [one.id for topic in found for one in topic.members]
    assert len(ids) == len(set(ids))
    for topic in found:
        assert FEWEST_MEMBERS <= len(topic.members) <= MOST_MEMBERS
        assert all(one.text in topic.text for one in topic.members)
        assert is_whole(topic.text, topic.members)
    shuffled = list(some)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = gather(shuffled, [[one.id for one in topic.members] for topic in found], {})
    assert [topic.members for topic in again] == [topic.members for topic in found]
    assert [topic.text for topic in again] == [topic.text for topic in found]


@given(known(least=1), st.integers(0, 13))
def test_a_topic_that_lacks_a_word_of_a_member_is_not_whole(some: list[ItemRecord], place: int) -> None:
    lacking = some[place % len(some)]
    others = [one for one in some if lacking.text not in one.text]
    assert is_whole(topic_text("garden", some), some)
    assert not is_whole(topic_text("", others), [*others, lacking])


def test_a_topic_is_told_from_knowledge_that_only_resembles_one() -> None:
    known_as = item(1, "roses", Kind.KNOWLEDGE)
    assert is_topic(replace(known_as, body={"topic": "roses", "members": 3}))
    assert not is_topic(replace(known_as, body={"topic": "roses"}))
    assert not is_topic(replace(known_as, kind=Kind.NOTE, body={"topic": "roses", "members": 3}))
