"""Whatever comes and goes, the stretches of a session stay in order and all of it can be accounted for."""

from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from retentia.model.summary import OVERVIEW_LEVEL, SEGMENT_LEVEL
from retentia.store.summaries import Stretch
from retentia.working.summary import SummaryPolicy, holes, next_overview, next_rollup, next_segment, standing
from retentia.working.window import WindowMessage

POLICIES = st.builds(
    SummaryPolicy,
    kind=st.sampled_from(["rolling", "turns"]),
    threshold=st.integers(4, 12),
    keep_recent=st.integers(0, 3),
    max_recent_messages=st.integers(1, 4),
    longest=st.integers(2, 9),
    segment_tokens=st.integers(1, 80),
    fan_in=st.integers(2, 4),
)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("say"), st.integers(1, 9)),
        st.tuples(st.just("erase"), st.integers(0, 200)),
        st.tuples(st.just("close"), st.just(0)),
    ),
    max_size=25,
)


@dataclass
class Session:
    """A session as the store would hold it, and the work on it as the job does it."""

    policy: SummaryPolicy
    messages: list[WindowMessage] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    said: int = 0

    def say(self, count: int) -> None:
        for _ in range(count):
            self.said += 1
            group = f"g{self.said // 3}" if self.said % 7 < 2 else ""
            seq = self.said * 2  # a tool log takes numbers, too
            self.messages.append(WindowMessage(id=f"m{seq}", seq=seq, role="user", tokens=10, group=group))

    def erase(self, number: int) -> None:
        if self.messages:
            gone = self.messages.pop(number % len(self.messages))
            self.stretches = [one for one in self.stretches if not one.first_seq <= gone.seq <= one.last_seq]

    def work(self, *, closing: bool = False) -> None:
        for _ in range(500):
            if not self.step(closing=closing):
                return
        raise AssertionError("the work does not come to an end")

    def step(self, *, closing: bool) -> bool:
        segments = [one for one in self.stretches if one.level == SEGMENT_LEVEL]
        for hole in holes(segments):
            inside = [
                one for one in self.messages if hole.first <= one.seq and (hole.last is None or one.seq <= hole.last)
            ]
            if not inside and hole.last is not None:
                self.stretches.append(Stretch(SEGMENT_LEVEL, hole.first, hole.last, 0, 0))
                return True
            if count := next_segment(inside, self.policy, is_open=hole.last is None, closing=closing):
                last = hole.last if hole.last is not None and count == len(inside) else inside[count - 1].seq
                self.stretches.append(Stretch(SEGMENT_LEVEL, hole.first, last, count, 10 * count))
                return True
        if below := next_rollup(self.stretches, self.policy):
            self.stretches.append(_over(below, below[0].level + 1))
            return True
        if below := next_overview(self.stretches, self.policy):
            self.stretches = [one for one in self.stretches if one.level != OVERVIEW_LEVEL]
            self.stretches.append(_over(below, OVERVIEW_LEVEL))
            return True
        return False


def _over(below: list[Stretch] | tuple[Stretch, ...], level: int) -> Stretch:
    return Stretch(
        level,
        below[0].first_seq,
        below[-1].last_seq,
        sum(one.messages for one in below),
        sum(one.tokens for one in below),
    )


@given(POLICIES, STEPS)
def test_every_message_is_covered_once_on_each_level_or_still_waits(
    policy: SummaryPolicy, steps: list[tuple[str, int]]
) -> None:
    session = Session(policy)
    for what, number in steps:
        if what == "say":
            session.say(number)
        elif what == "erase":
            session.erase(number)
        session.work(closing=what == "close")
        for level in {one.level for one in session.stretches}:
            same = sorted((one for one in session.stretches if one.level == level), key=lambda one: one.first_seq)
            assert all(one.last_seq < two.first_seq for one, two in pairwise(same))
        shown = standing(session.stretches)
        waiting = [one for one in session.messages if not any(s.first_seq <= one.seq <= s.last_seq for s in shown)]
        assert sum(one.messages for one in shown) + len(waiting) == len(session.messages)
        assert waiting == session.messages[len(session.messages) - len(waiting) :]  # only the end waits
        if what == "close":
            assert not waiting


@given(POLICIES, st.integers(1, 400))
def test_a_prompt_needs_few_summaries_however_long_the_session_is(policy: SummaryPolicy, count: int) -> None:
    session = Session(policy)
    for _ in range(count // 5):
        session.say(5)
        session.work()
    segments = sum(one.level == SEGMENT_LEVEL for one in session.stretches)
    assert len(standing(session.stretches)) <= (policy.fan_in + 2 if segments > policy.fan_in else policy.fan_in)


@given(POLICIES, STEPS)
def test_no_segment_splits_a_tool_group_that_was_whole_when_it_was_made(
    policy: SummaryPolicy, steps: list[tuple[str, int]]
) -> None:
    session = Session(policy)
    for what, number in steps:
        if what == "say":
            session.say(number)
        session.work()
    ends = {one.last_seq for one in session.stretches if one.level == SEGMENT_LEVEL}
    groups: dict[str, list[int]] = {}
    for one in session.messages:
        if one.group:
            groups.setdefault(one.group, []).append(one.seq)
    whole = {group: seqs for group, seqs in groups.items() if len(seqs) > 1}
    for seqs in whole.values():
        assert not any(min(seqs) <= end < max(seqs) for end in ends)
