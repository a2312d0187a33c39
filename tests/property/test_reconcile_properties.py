"""Whatever is said in whatever order: event time decides, nothing is lost, and only the person is believed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from hypothesis import assume, given
from hypothesis import strategies as st

from retentia.learn.reconcile import Decision, New, reconcile
from retentia.learn.timeline import Held
from retentia.model.candidate import Manner
from retentia.model.ids import RecordId
from retentia.model.learned import Effect
from retentia.model.provenance import Trust
from retentia.model.record import Status

NOW = 1_000
OTHERS = (Trust.AGENT, Trust.OUTSIDE)
VALUES = st.sampled_from(["Berlin", "Kyiv", "Lviv"])
TIMES = st.integers(1, 40)
MANNERS = st.sampled_from(list(Manner))


@st.composite
def statements(draw: st.DrawFn, *, outright: bool = False) -> New:
    """Draw what may be said of a slot, by anyone, in any manner, of a time as exact as may be."""
    start = draw(TIMES)
    return New(
        value=draw(VALUES),
        start=start,
        end=start + (1 if outright else draw(st.sampled_from([1, 1, 1, 5]))),
        told_at=start,
        has_many=False,
        trust=Trust.PERSON if outright else draw(st.sampled_from(list(Trust))),
        manner=Manner.ASSERTED if outright else draw(MANNERS),
        is_flagged="" if outright else draw(st.sampled_from(["", "", "its quote is not in the message"])),
        is_not=False if outright else draw(st.booleans()),
        is_correction=False if outright else draw(st.booleans()),
        corrects="" if outright else draw(st.sampled_from(["", "Berlin", "Kyiv"])),
    )


@dataclass
class Slot:
    """Claims as they would lie in a store: decisions are applied to them one by one."""

    held: dict[RecordId, Held]
    count: int = 0

    @classmethod
    def empty(cls) -> "Slot":
        return cls({})

    def tell(self, new: New) -> Decision:
        decision = reconcile(new, list(self.held.values()), now=NOW)
        span = (new.start, new.end)
        if decision.effect in (Effect.ADD, Effect.PROPOSE):
            self._add(
                new.value,
                Status.STATED if decision.effect is Effect.ADD else Status.CANDIDATE,
                (decision.valid_from, decision.valid_to),
                (span,),
            )
        elif decision.same is not None and decision.is_evidence:
            known = self.held[decision.same]
            since = known.valid_from if decision.valid_from is None else decision.valid_from
            self.held[known.id] = replace(known, valid_from=since, said=(*known.said, span))
        for one in decision.resumes:
            assert one.resumes is not None
            split = self.held[one.id]
            self._add(split.value, split.status, (one.resumes, one.until), split.said, is_opposite=split.is_opposite)
        for gone, at in decision.ends:
            self.held[gone] = replace(self.held[gone], valid_to=at)
        for gone in decision.retracts:
            self.held[gone] = replace(self.held[gone], wrong_until=new.told_at)
        return decision

    def reject(self, one: Held) -> None:
        self.held[one.id] = replace(one, status=Status.REJECTED, is_rejected=True, wrong_until=NOW)

    def from_the_opposite(self) -> "Slot":
        """Return it as the opposite attribute sees it."""
        turned = {key: replace(one, is_opposite=not one.is_opposite) for key, one in self.held.items()}
        return Slot(turned, self.count)

    def believed(self) -> list[Held]:
        return [one for one in self.held.values() if one.is_believed]

    def intervals(self) -> list[tuple[str, int | None, int | None]]:
        found = [(one.value, one.valid_from, one.valid_to) for one in self.believed() if one.valid_from != one.valid_to]
        return sorted(found, key=lambda one: one[1] or 0)

    def at(self, instant: int) -> set[str]:
        return {one.value for one in self.believed() if one.covers(instant)}

    def _add(
        self,
        value: str,
        status: Status,
        valid: tuple[int | None, int | None],
        said: tuple[tuple[int, int], ...],
        *,
        is_opposite: bool = False,
    ) -> None:
        self.count += 1
        known = RecordId(str(self.count))
        self.held[known] = Held(
            id=known,
            value=value,
            status=status,
            valid_from=valid[0],
            valid_to=valid[1],
            said=said,
            is_opposite=is_opposite,
        )


def told(given_statements: Sequence[New]) -> Slot:
    slot = Slot.empty()
    for one in given_statements:
        slot.tell(one)
    return slot


def runs(given_statements: Sequence[New]) -> list[tuple[str, int | None, int | None]]:
    """Return what must come out: each value from when it was said until another was."""
    ordered = sorted(given_statements, key=lambda one: one.start)
    firsts = [one for before, one in pairwise([None, *ordered]) if one and (not before or before.value != one.value)]
    ends = [one.start for one in firsts[1:]]
    return [(one.value, one.start, until) for one, until in zip(firsts, [*ends, None], strict=False)]


@given(
    st.lists(statements(outright=True), max_size=9, unique_by=lambda one: one.start).flatmap(
        lambda some: st.permutations(some)
    )
)
def test_any_order_of_dated_statements_of_a_slot_with_one_value_gives_the_same_intervals(some: list[New]) -> None:
    assert told(some).intervals() == runs(some)


@given(st.lists(statements(), max_size=12))
def test_at_no_time_two_values_of_a_slot_with_one_value_are_believed(some: list[New]) -> None:
    slot = told(some)
    dated = [one for one in slot.believed() if one.valid_from is not None]  # of what was, and is over, that is unknown
    for instant in range(50):
        assert sum(one.covers(instant) for one in dated) <= 1
    assert sum(one.is_current for one in slot.held.values()) <= 1


@given(st.lists(statements(), max_size=12))
def test_every_value_that_was_believed_is_kept_with_its_interval_or_as_taken_back(some: list[New]) -> None:
    slot = Slot.empty()
    for one in some:
        before = dict(slot.held)
        decision = slot.tell(one)
        assert before.keys() <= slot.held.keys()
        if decision.effect is Effect.ADD:
            assert any(held.value == one.value for held in slot.believed())
        if decision.effect in (Effect.ADD, Effect.PROPOSE, Effect.SEEN_AGAIN):
            assert any(held.value == one.value for held in slot.held.values())


@given(st.lists(statements(), max_size=10), statements())
def test_only_what_the_person_said_outright_adds_or_ends_a_belief(some: list[New], last: New) -> None:
    slot = told(some)
    before = slot.believed()
    is_own = last.trust is Trust.PERSON and not last.is_flagged
    is_outright = is_own and last.manner in (Manner.ASSERTED, Manner.FORCED, Manner.FORMER)
    assume(not is_outright)
    decision = slot.tell(last)
    assert slot.believed() == before
    assert not decision.ends
    assert not decision.retracts
    assert not (decision.is_evidence and decision.same in {one.id for one in before})


@given(st.lists(statements(), max_size=8), st.lists(statements(), max_size=8))
def test_candidates_never_change_what_is_believed(some: list[New], proposed: list[New]) -> None:
    plain, mixed = told(some), Slot.empty()
    from_others = [replace(one, trust=Trust.AGENT) for one in proposed]
    for place in range(max(len(some), len(from_others))):
        for one in (*from_others[place : place + 1], *some[place : place + 1]):
            mixed.tell(one)
    assert mixed.intervals() == plain.intervals()


@given(st.lists(statements(outright=True), max_size=8), st.lists(statements(), max_size=4), st.data())
def test_what_was_rejected_is_not_proposed_again_and_only_the_persons_later_word_states_it(
    some: list[New], others: list[New], data: st.DataObject
) -> None:
    slot = told([*some, *others])
    assume(slot.held)
    gone = data.draw(st.sampled_from(sorted(slot.held.values(), key=lambda one: one.id)))
    slot.reject(gone)
    inferred = replace(data.draw(statements()), value=gone.value)
    if inferred.trust is not Trust.PERSON or inferred.manner is not Manner.ASSERTED:
        assert slot.tell(inferred).effect not in (Effect.PROPOSE, Effect.ADD)
    earlier = replace(data.draw(statements(outright=True)), value=gone.value)
    assert slot.tell(earlier).effect is Effect.REFUSE
    for other in [one for one in slot.believed() if one.value != gone.value]:
        slot.reject(other)
    later = replace(earlier, start=NOW, end=NOW + 1, told_at=NOW)
    assert slot.tell(later).effect in (Effect.ADD, Effect.SEEN_AGAIN)
    assert gone.value in slot.at(NOW)


@given(st.lists(statements(outright=True), max_size=8), st.lists(statements(outright=True), max_size=8))
def test_values_of_an_attribute_with_many_never_end_one_another(some: list[New], more: list[New]) -> None:
    slot = told([replace(one, has_many=True) for one in (*some, *more)])
    assert {one.value for one in slot.held.values() if one.is_current} == {one.value for one in (*some, *more)}
    assert all(one.valid_to is None for one in slot.believed())


@given(st.lists(statements(outright=True), min_size=1, max_size=6), st.integers(41, 60))
def test_a_correction_retracts_and_a_change_ends(some: list[New], at: int) -> None:
    (current,) = [one for one in told(some).held.values() if one.is_current]
    new = replace(some[0], value="Odesa", start=at, end=at + 1, told_at=at)
    changed, corrected = told(some), told(some)
    assert changed.tell(new).ends == ((current.id, at),)
    decision = corrected.tell(replace(new, is_correction=True, corrects=current.value))
    assert current.id in decision.retracts
    assert corrected.at(at) == {"Odesa"}
    assert current.value not in {one.value for one in corrected.believed() if one.covers(at)}
    assert corrected.held[current.id].valid_to is None  # it does not end: it never was so


@given(st.lists(statements(outright=True), max_size=8), statements(outright=True), st.integers(1, 100))
def test_what_is_to_hold_in_the_future_only_opens_a_conflict(some: list[New], last: New, ahead: int) -> None:
    slot = told(some)
    before = slot.intervals()
    decision = slot.tell(replace(last, start=NOW + ahead, end=NOW + ahead + 1))
    assert decision.effect is Effect.PROPOSE
    assert set(decision.conflicts) == {one.id for one in slot.believed() if one.is_current and one.value != last.value}
    assert slot.intervals() == before


@given(st.lists(statements(outright=True), min_size=1, max_size=8), st.data())
def test_a_time_that_overlaps_another_one_only_opens_a_conflict(some: list[New], data: st.DataObject) -> None:
    slot = told(some)
    before = slot.intervals()
    rival = data.draw(st.sampled_from([one for one in slot.believed() if one.valid_from != one.valid_to]))
    start, _ = data.draw(st.sampled_from(rival.points()))
    vague = replace(some[0], value="Odesa", start=max(0, start - data.draw(st.integers(0, 5))), end=start + 6)
    decision = slot.tell(vague)
    assert (decision.effect, rival.id in decision.conflicts) == (Effect.PROPOSE, True)
    assert slot.intervals() == before


@given(
    st.lists(statements(outright=True), max_size=7, unique_by=lambda one: one.start),
    st.sampled_from(["Berlin", "Kyiv"]),
    st.integers(1, 40),
    st.data(),
)
def test_denying_a_value_ends_it_only_until_it_was_said_again(
    some: list[New], value: str, at: int, data: st.DataObject
) -> None:
    assume(at not in {one.start for one in some})
    denial = New(value=value, start=at, end=at + 1, told_at=at, has_many=False, is_not=True)
    slot = told(some)
    slot.tell(denial)
    expected = told([one for one in some if one.start < at])
    expected.tell(denial)
    later = sorted((one for one in some if one.start > at), key=lambda one: one.start)
    for one in later:
        expected.tell(one)
    assert [slot.at(instant) for instant in range(1, 42)] == [expected.at(instant) for instant in range(1, 42)]


@given(st.lists(statements(), max_size=10), statements())
def test_saying_the_same_twice_changes_nothing(some: list[New], last: New) -> None:
    slot = told(some)
    slot.tell(last)
    once = slot.intervals()
    slot.tell(last)
    assert slot.intervals() == once


@given(st.lists(st.tuples(statements(outright=True), st.booleans()), max_size=8, unique_by=lambda one: one[0].start))
def test_liking_and_disliking_the_same_thing_take_turns_in_any_order(some: list[tuple[New, bool]]) -> None:
    def sides(ordered: Sequence[tuple[New, bool]]) -> list[list[bool]]:
        """Tell, for each instant, whether it is liked (True), disliked, or neither."""
        slot = Slot.empty()
        for new, is_liked in ordered:
            seen = slot if is_liked else slot.from_the_opposite()
            seen.tell(replace(new, value="tea", has_many=True))
            slot = seen if is_liked else seen.from_the_opposite()
        return [[not one.is_opposite for one in slot.believed() if one.covers(instant)] for instant in range(1, 42)]

    in_order = sorted(some, key=lambda one: one[0].start)
    assert sides(some) == sides(in_order)
    if in_order:
        assert sides(some)[-1] == [in_order[-1][1]]
