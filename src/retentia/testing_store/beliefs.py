# ruff: noqa: S101 - assertions are what a contract is made of
"""What is promised of claims, of how items stand, and of their changes: the same on every database."""

from collections.abc import Sequence
from contextlib import suppress

from retentia.errors import InvalidInput
from retentia.learn.apply import Taught, learn
from retentia.model.attributes import shipped_attributes
from retentia.model.belief import as_known
from retentia.model.candidate import Candidate, Manner
from retentia.model.claim import Change, Claim, Revision, claim_of
from retentia.model.ids import RecordId, id_bytes
from retentia.model.learned import Effect, Learned
from retentia.model.provenance import Trust
from retentia.model.record import ItemRecord, Kind
from retentia.model.scope import Scope
from retentia.model.time import Moment
from retentia.store import claims, records
from retentia.store.database import Database
from retentia.testing_store.clock import FixedClock
from retentia.write.place import Place

MINE = Scope("acme", "ann")
OTHER = Scope("acme", "ben")
DAY = 86_400_000_000


class BeliefsContract:
    """Claims and revisions of one database."""

    def test_what_is_learned_twice_is_there_once(self, database: Database) -> None:
        first = _learn(database, [_told("home", "Kyiv")])
        again = _learn(database, [_told("home", "kyiv.", day=2)])
        assert [one.effect for one in (*first, *again)] == [Effect.ADD, Effect.SEEN_AGAIN]
        (held,) = _items(database)
        assert (held.seen_count, held.valid_to) == (2, None)
        assert _claims(database) == 1

    def test_a_name_is_one_in_each_of_its_forms(self, database: Database) -> None:
        _learn(database, [_told("home", "Київ")])
        _learn(database, [_told("home", "Києві", day=2)])
        _learn(database, [_told("speaks", "Größe"), _told("speaks", "Groesse")])
        assert sorted(_value(one) for one in _items(database)) == ["Größe", "Київ"]

    def test_of_a_slot_with_one_value_the_newest_holds_and_the_others_keep_their_time(self, database: Database) -> None:
        for value, day in (("Kyiv", 5), ("Lviv", 1), ("Odesa", 3)):
            _learn(database, [_told("home", value, day=day)])
        spans = {_value(one): (one.valid_from, one.valid_to) for one in _items(database)}
        assert spans == {"Lviv": (DAY, 3 * DAY), "Odesa": (3 * DAY, 5 * DAY), "Kyiv": (5 * DAY, None)}

    def test_a_value_that_was_said_again_behind_another_one_holds_twice(self, database: Database) -> None:
        _learn(database, [_told("home", "Kyiv", day=day) for day in (1, 5, 9)])
        _learn(database, [_told("home", "Lviv", day=3)])
        found = sorted(_items(database), key=lambda one: one.valid_from or 0)
        assert [(_value(one), one.valid_from, one.valid_to) for one in found] == [
            ("Kyiv", DAY, 3 * DAY),
            ("Lviv", 3 * DAY, 5 * DAY),
            ("Kyiv", 5 * DAY, None),
        ]
        _learn(database, [_told("home", "Odesa", day=7)])
        assert [_value(one) for one in _items(database) if one.valid_to is None] == ["Kyiv"]
        assert _claims(database) == len(_items(database))

    def test_scopes_and_subjects_share_no_slot(self, database: Database) -> None:
        _learn(database, [_told("home", "Kyiv"), _told("home", "Lviv", subject="Olena")])
        _learn(database, [_told("home", "Bern")], scope=OTHER)
        assert {(_value(one), one.valid_to) for one in _items(database)} == {("Kyiv", None), ("Lviv", None)}
        assert [_value(one) for one in _items(database, scope=OTHER)] == ["Bern"]

    def test_each_change_is_noted_with_what_was_before_and_what_caused_it(
        self, database: Database, clock: FixedClock
    ) -> None:
        _learn(database, [_told("home", "Kyiv")])
        clock.advance(seconds=60)
        (new,) = _learn(database, [_told("home", "Lviv", day=2)])
        old = next(one for one in _items(database) if one.valid_to is not None)
        (change,) = _changes(database, old)
        assert (change.change, change.cause, change.before) == (Change.SUPERSEDED, new.record_id, {"valid_to": None})
        assert (change.version, change.changed_at) == (old.version, clock.now)
        assert change.author == "ann"

    def test_it_can_be_told_what_was_known_at_any_time(self, database: Database, clock: FixedClock) -> None:
        times = []
        for value, day in (("Kyiv", 5), ("Kyiv", 1), ("Lviv", 3)):
            _learn(database, [_told("home", value, day=day)])
            times.append(clock.now)
            clock.advance(seconds=60)
        then = [
            {
                (_value(one), known.valid_from, known.valid_to)
                for one in _items(database)
                if (known := as_known(one, _changes(database, one), at)) is not None
            }
            for at in times
        ]
        assert then == [
            {("Kyiv", 5 * DAY, None)},
            {("Kyiv", DAY, None)},
            {("Kyiv", DAY, 3 * DAY), ("Lviv", 3 * DAY, 5 * DAY), ("Kyiv", 5 * DAY, None)},
        ]

    def test_what_others_say_is_proposed_and_supports_no_belief(self, database: Database) -> None:
        _learn(database, [_told("home", "Kyiv")])
        outside = [_told("home", "Kyiv", trust=Trust.OUTSIDE), _told("home", "Lviv", trust=Trust.AGENT)]
        assert [one.effect for one in _learn(database, outside)] == [Effect.SEEN_AGAIN, Effect.PROPOSE]
        held = {_value(one): one for one in _items(database)}
        assert (held["Kyiv"].seen_count, held["Kyiv"].valid_to) == (1, None)
        assert not held["Lviv"].is_searchable

    def test_a_batch_that_fails_leaves_nothing(self, database: Database) -> None:
        with suppress(InvalidInput), database.write(MINE.tenant) as transaction:
            learn(Place(transaction, MINE), [_told("home", "Kyiv")], shipped_attributes())
            _give_up()
        _learn(database, [_told("home", "Lviv")])
        assert [_value(one) for one in _items(database)] == ["Lviv"]
        assert _claims(database) == 1


def _give_up() -> None:
    raise InvalidInput("the caller gives up")


def _told(
    attribute: str,
    value: str,
    *,
    day: int = 1,
    subject: str = "user",
    trust: Trust = Trust.PERSON,
    manner: Manner = Manner.ASSERTED,
) -> Taught:
    candidate = Candidate(
        kind=Kind.FACT,
        subject=subject,
        attribute=attribute,
        value=value,
        message_id=RecordId(""),
        start=0,
        end=0,
        manner=manner,
    )
    at = Moment.at(day * DAY)
    text = f"{subject} {attribute} {value}"
    return Taught(candidate=candidate, text=text, at=at, trust=trust, author="ann", source_kind=None)


def _learn(database: Database, taught: Sequence[Taught], *, scope: Scope = MINE) -> list[Learned]:
    with database.write(scope.tenant) as transaction:
        return learn(Place(transaction, scope), taught, shipped_attributes())


def _items(database: Database, *, scope: Scope = MINE) -> list[ItemRecord]:
    with database.read(scope.tenant) as transaction:
        return records.items_about(transaction, records.view_of(transaction, scope))


def _claims(database: Database) -> int:
    found = [id_bytes(one.id) for one in _items(database)]
    with database.read(MINE.tenant) as transaction:
        (scope_id,) = records.view_of(transaction, MINE).scope_ids
        return claims.count_claims(transaction, scope_id, found)


def _changes(database: Database, one: ItemRecord) -> list[Revision]:
    with database.read(MINE.tenant) as transaction:
        return claims.revisions(transaction, records.view_of(transaction, MINE).scope_ids, [id_bytes(one.id)])


def _claim(one: ItemRecord) -> Claim:
    found = claim_of(one.body)
    assert found is not None
    return found


def _value(one: ItemRecord) -> str:
    return _claim(one).value
