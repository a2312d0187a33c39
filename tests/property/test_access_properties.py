"""Whatever is granted, revoked or expired, nobody is shown what a plain model forbids, nor denied what it permits."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retentia import Kind, Memory, Principal, Scope
from retentia.acting import ActingMemory
from retentia.errors import AccessDenied, InvalidInput
from retentia.model.grant import Right
from retentia.testing import FakeEmbedder
from retentia.testing_store.clock import FixedClock

_SEATS = (("anna", "work", ""), ("anna", "personal", ""), ("anna", "work", "coder"), ("bob", "work", ""))
_KINDS = (Kind.MESSAGE, Kind.FACT)
_USES: dict[str, tuple[Callable[[ActingMemory, Scope], object], set[Right]]] = {
    "plan": (lambda acting, scope: acting.plan_forgetting(everything=True, scope=scope), {Right.READ, Right.ERASE}),
    "personal": (lambda acting, scope: acting.personal_data(scope=scope), {Right.PERSONAL}),
    "review": (lambda acting, scope: acting.due_for_review(scope=scope), {Right.READ}),
}
_tenants = itertools.count(1)

seats = st.integers(0, len(_SEATS) - 1)
kinds = st.sampled_from([(), (Kind.FACT,), (Kind.MESSAGE,)])
rights = st.sampled_from([(Right.READ,), (Right.READ, Right.ERASE), (Right.PERSONAL,), tuple(Right)])
steps = st.one_of(
    st.tuples(st.just("grant"), seats, seats, kinds, rights, st.integers(1, 100)),
    st.tuples(st.just("revoke"), st.integers(0, 9)),
    st.tuples(st.just("wait"), st.integers(1, 60)),
    st.tuples(st.just("turn back"), st.integers(1, 60)),
    st.tuples(st.just("recall"), seats, seats, st.lists(seats, max_size=2, unique=True)),
    st.tuples(st.just("list"), seats, seats, st.sampled_from(_KINDS)),
    st.tuples(st.just("use"), seats, seats, st.sampled_from([*_USES])),
)


@dataclass
class Given:
    scope: Scope
    to: Scope
    kinds: frozenset[Kind]
    rights: frozenset[Right]
    expires: float
    id: str
    revoked: bool = False


@dataclass
class World:
    """A memory, and beside it what a reader of the rules would expect."""

    memory: Memory
    clock: FixedClock
    tenant: str
    given: list[Given] = field(default_factory=list)
    was_turned_back: bool = False

    def scope(self, seat: int) -> Scope:
        return Scope(self.tenant, *_SEATS[seat])

    def may_see(self, who: Scope, scope: Scope, kind: Kind) -> bool:
        return self.may(who, scope, kind, Right.READ)

    def may(self, who: Scope, scope: Scope, kind: Kind, right: Right) -> bool:
        shows = right in (Right.READ, Right.PERSONAL)
        if scope == who or (shows and scope == who.shared()):
            return True
        return any(
            one.to == who
            and (scope == one.scope or (shows and scope == one.scope.shared()))
            and kind in one.kinds
            and right in one.rights
            and not one.revoked
            and self.clock.now < one.expires
            for one in self.given
        )

    def run(self, step: tuple) -> None:  # type: ignore[type-arg]
        match step:
            case "grant", scope, to, some, which, seconds:
                self._grant(self.scope(scope), self.scope(to), some, which, seconds)
            case "revoke", number if self.given:
                one = self.given[number % len(self.given)]
                self.memory.revoke(one.id, tenant=self.tenant)
                one.revoked = True
            case "wait", seconds:
                self.clock.advance(seconds=seconds)
            case "turn back", seconds:
                self.clock.advance(seconds=-seconds)
                self.was_turned_back = True
            case "recall", who, scope, also:
                self._recall(self.scope(who), self.scope(scope), [self.scope(one) for one in also])
            case "list", who, scope, kind:
                self._list(self.scope(who), self.scope(scope), kind)
            case "use", who, scope, name:
                self._use(self.scope(who), self.scope(scope), name)

    def look_where_it_matters(self) -> None:
        """List what grants were ever given of: there a right has just begun, still holds, or has ended."""
        for scope, to in {(one.scope, one.to) for one in self.given}:
            for kind in _KINDS:
                self._list(to, scope, kind)
            for name in _USES:
                self._use(to, scope, name)

    def _grant(self, scope: Scope, to: Scope, some: tuple[Kind, ...], which: tuple[Right, ...], seconds: int) -> None:
        expires = self.clock.now + seconds * 1_000_000
        try:
            grant = self.memory.grant(scope=scope, to=to, kinds=some, rights=which, expires_at=_moment(expires))
        except InvalidInput:
            assert self.was_turned_back  # what the log has seen is later than this expiry
            return
        self.given.append(Given(scope, to, frozenset(some or Kind), frozenset(which), expires, grant.id))

    def _recall(self, who: Scope, scope: Scope, also: list[Scope]) -> None:
        may = all(any(self.may_see(who, one, kind) for kind in _KINDS) for one in (scope, *also))
        try:
            found = self._acting(who).recall("note", scope=scope, also=also, min_relevance=0, limit=50)
        except AccessDenied:
            assert not may or self.was_turned_back
            return
        assert may
        shown = [(hit.record.scope, hit.record.kind) for hit in found]
        assert [one for one in shown if not self.may_see(who, *one)] == []
        assert {one for one, _ in shown} <= {part for one in (scope, *also) for part in (one, one.shared())}
        if not self.was_turned_back and not also:
            expected = {
                (one, kind) for one in (scope, scope.shared()) for kind in _KINDS if self.may_see(who, one, kind)
            }
            assert set(shown) == expected

    def _list(self, who: Scope, scope: Scope, kind: Kind) -> None:
        may = self.may_see(who, scope, kind)
        try:
            page = self._acting(who).records(scope=scope, kind=kind)
        except AccessDenied:
            assert not may or self.was_turned_back
            return
        assert may
        assert all(self.may_see(who, record.scope, record.kind) for record in page.records)

    def _use(self, who: Scope, scope: Scope, name: str) -> None:
        call, needed = _USES[name]
        may = all(self.may(who, scope, kind, right) for kind in Kind for right in needed)
        try:
            call(self._acting(who), scope)
        except AccessDenied:
            assert not may or self.was_turned_back
            return
        assert may

    def _acting(self, who: Scope) -> ActingMemory:
        name = "-".join(part for part in (who.user, who.space, who.agent) if part)
        return self.memory.acting_as(
            Principal(id=name, role="agent", tenant=who.tenant, user=who.user, space=who.space, agent=who.agent)
        )


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def memory(store_url: str, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock) as opened:
        yield opened


@given(st.lists(steps, max_size=12))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_nobody_sees_what_the_model_forbids(memory: Memory, clock: FixedClock, todo: list[tuple]) -> None:  # type: ignore[type-arg]
    world = World(memory, clock, f"tenant-{next(_tenants)}")
    for seat in range(len(_SEATS)):
        memory.add(f"a note of seat {seat}", scope=world.scope(seat))
        memory.remember(f"a fact to note of seat {seat}", "fact", scope=world.scope(seat))
    for step in todo:
        world.run(step)
        world.look_where_it_matters()
    report = memory.verify_audit(world.tenant)
    assert report.is_sound


def _moment(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1_000_000, UTC).isoformat()
