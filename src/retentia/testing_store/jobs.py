# ruff: noqa: S101 - assertions are what a contract is made of
"""What is promised of the queue: every job is done once or shown to be dead, whoever crashes meanwhile."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from sqlalchemy import delete, update

from retentia.errors import JobLost, NotFound
from retentia.model.ids import RecordId, new_id, new_id_bytes
from retentia.store import jobs
from retentia.store.database import Database, Transaction
from retentia.store.jobs import LEASE, MAX_ATTEMPTS, RECORDS_A_JOB, Job, JobState
from retentia.store.schema import due
from retentia.testing_store.clock import FixedClock

_T = TypeVar("_T")
_LEASE_SECONDS = LEASE / 1_000_000


class JobsContract:
    """The queue of one database."""

    def test_a_job_holds_ids_and_is_claimed_with_all_of_them(self, database: Database, clock: FixedClock) -> None:
        ids = [new_id_bytes() for _ in range(3)]
        job_id = _do(database, lambda transaction: jobs.enqueue(transaction, "embed", 2**61, ids))
        (claimed,) = _claim(database)
        assert (claimed.id, claimed.tenant, claimed.kind, claimed.scope_id) == (job_id, "acme", "embed", 2**61)
        assert claimed.record_ids == tuple(ids)
        assert (claimed.state, claimed.attempts, claimed.next_at) == ("leased", 1, clock.now + LEASE)

    def test_a_claimed_job_is_not_given_to_another(self, database: Database) -> None:
        _enqueue(database)
        assert len(_claim(database)) == 1
        assert _claim(database) == []

    def test_the_oldest_due_jobs_of_the_wanted_kinds_come_first(self, database: Database, clock: FixedClock) -> None:
        first = _enqueue(database)
        clock.advance(seconds=1)
        second = _enqueue(database)
        clock.advance(seconds=1)
        third, other = _enqueue(database), _enqueue(database, kind="reflect")
        assert [job.id for job in _claim(database, limit=2)] == [first, second]
        assert [job.id for job in _claim(database, limit=9)] == [third]
        assert [job.id for job in _claim(database, limit=9, kinds=("reflect", "embed"))] == [other]

    def test_a_finished_job_is_gone(self, database: Database) -> None:
        _enqueue(database)
        (claimed,) = _claim(database)
        _do(database, lambda transaction: jobs.finish(transaction, claimed))
        assert _do(database, jobs.listing) == []
        assert _do(database, jobs.count_unfinished) == 0

    def test_a_job_of_a_failed_transaction_was_never_queued(self, database: Database) -> None:
        def enqueue_and_fail(transaction: Transaction) -> None:
            jobs.enqueue(transaction, "embed", 1, [])
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            _do(database, enqueue_and_fail)
        assert _claim(database) == []

    def test_the_job_of_a_crashed_worker_is_given_to_another(self, database: Database, clock: FixedClock) -> None:
        _enqueue(database)
        (crashed,) = _claim(database)
        clock.advance(seconds=_LEASE_SECONDS - 1)
        assert _claim(database) == []
        clock.advance(seconds=1)
        (taken_over,) = _claim(database)
        assert (taken_over.id, taken_over.attempts) == (crashed.id, 2)
        assert taken_over.fence > crashed.fence

    def test_who_lost_the_lease_can_neither_finish_nor_fail_the_job(
        self, database: Database, clock: FixedClock
    ) -> None:
        _enqueue(database)
        (late,) = _claim(database)
        clock.advance(seconds=_LEASE_SECONDS)
        (holder,) = _claim(database)
        with pytest.raises(JobLost):
            _do(database, lambda transaction: jobs.finish(transaction, late))
        with pytest.raises(JobLost):
            _fail(database, late, "too late")
        _do(database, lambda transaction: jobs.finish(transaction, holder))
        with pytest.raises(JobLost):
            _do(database, lambda transaction: jobs.finish(transaction, holder))

    def test_who_is_late_but_was_not_replaced_may_still_finish(self, database: Database, clock: FixedClock) -> None:
        _enqueue(database)
        (late,) = _claim(database)
        clock.advance(seconds=10 * _LEASE_SECONDS)
        _do(database, lambda transaction: jobs.finish(transaction, late))
        assert _do(database, jobs.listing) == []

    def test_a_failed_job_waits_longer_each_time_and_dies_in_the_end(
        self, database: Database, clock: FixedClock
    ) -> None:
        _enqueue(database)
        waits = []
        for attempt in range(1, MAX_ATTEMPTS + 1):
            (claimed,) = _claim(database)
            state = _fail(database, claimed, "кінець " * 200)
            assert state == ("dead" if attempt == MAX_ATTEMPTS else "queued")
            (waiting,) = _do(database, jobs.listing)
            waits.append(waiting.next_at - clock.now)
            assert state == "dead" or _claim(database) == []
            clock.advance(seconds=waits[-1] / 1_000_000)
        assert waits[:-1] == sorted(set(waits[:-1]))
        assert waiting.error.startswith("кінець")
        clock.advance(seconds=1_000_000)
        assert _claim(database) == []

    def test_a_job_that_kills_its_workers_becomes_a_dead_letter(self, database: Database, clock: FixedClock) -> None:
        _enqueue(database)
        for _ in range(MAX_ATTEMPTS):
            assert len(_claim(database)) == 1
            clock.advance(seconds=_LEASE_SECONDS)
        assert _claim(database) == []
        (dead,) = _do(database, lambda transaction: jobs.listing(transaction, state="dead"))
        assert dead.error
        assert _do(database, lambda transaction: jobs.states(transaction, [dead.id, new_id()])) == {"dead"}
        assert _do(database, jobs.count_unfinished) == 0

    def test_a_dead_job_can_be_tried_again_with_all_its_attempts(self, database: Database, clock: FixedClock) -> None:
        job_id = _enqueue(database)
        for _ in range(MAX_ATTEMPTS + 1):
            _claim(database)
            clock.advance(seconds=_LEASE_SECONDS)
        _do(database, lambda transaction: jobs.retry(transaction, job_id))
        (claimed,) = _claim(database)
        assert (claimed.id, claimed.attempts) == (job_id, 1)

    def test_trying_again_takes_the_job_from_who_holds_it(self, database: Database) -> None:
        job_id = _enqueue(database)
        (held,) = _claim(database)
        _do(database, lambda transaction: jobs.retry(transaction, job_id))
        with pytest.raises(JobLost):
            _do(database, lambda transaction: jobs.finish(transaction, held))
        assert [job.id for job in _claim(database)] == [job_id]

    def test_a_cancelled_job_is_gone_also_for_who_holds_it(self, database: Database) -> None:
        job_id = _enqueue(database)
        (held,) = _claim(database)
        _do(database, lambda transaction: jobs.cancel(transaction, job_id))
        with pytest.raises(JobLost):
            _do(database, lambda transaction: jobs.finish(transaction, held))
        for action in (jobs.cancel, jobs.retry):
            with pytest.raises(NotFound, match=job_id):
                _act_on(database, action, job_id)

    def test_a_cancelled_job_is_not_shown_counted_or_waited_for(self, database: Database, clock: FixedClock) -> None:
        job_id = _enqueue(database)
        _do(database, lambda transaction: jobs.cancel(transaction, job_id))
        clock.advance(seconds=_LEASE_SECONDS)
        assert _claim(database) == []
        assert _do(database, jobs.listing) == []
        assert _do(database, lambda transaction: jobs.states(transaction, [job_id])) == set()
        assert _do(database, jobs.count_unfinished) == 0
        assert _due(database) == []

    def test_records_that_wait_are_known_until_their_job_is_done(self, database: Database, clock: FixedClock) -> None:
        ids = [new_id_bytes() for _ in range(2)]
        job_id = _do(database, lambda transaction: jobs.enqueue(transaction, "embed", 5, ids))
        assert _held(database, 5) == set(ids)
        assert _held(database, 6) == set()
        assert _do(database, lambda transaction: jobs.states(transaction, [job_id])) == {"queued"}
        (claimed,) = _claim(database)
        assert _held(database, 5) == set(ids)
        _do(database, lambda transaction: jobs.finish(transaction, claimed))
        assert _held(database, 5) == set()

    def test_records_of_a_job_that_is_dead_or_given_up_are_still_held(
        self, database: Database, clock: FixedClock
    ) -> None:
        ids = [new_id_bytes()]
        job_id = _do(database, lambda transaction: jobs.enqueue(transaction, "embed", 5, ids))
        for _ in range(MAX_ATTEMPTS + 1):
            _claim(database)
            clock.advance(seconds=_LEASE_SECONDS)
        assert _do(database, lambda transaction: jobs.states(transaction, [job_id])) == {"dead"}
        assert _held(database, 5) == set(ids)
        _do(database, lambda transaction: jobs.cancel(transaction, job_id))
        assert _held(database, 5) == set(ids)

    def test_many_records_are_queued_in_jobs_of_a_bounded_size(self, database: Database) -> None:
        ids = [new_id_bytes() for _ in range(RECORDS_A_JOB + 1)]
        assert len(_do(database, lambda transaction: jobs.enqueue_all(transaction, "embed", 5, ids))) == 2
        # Both were made in one instant, and ids are no order.
        assert sorted(len(job.record_ids) for job in _do(database, jobs.listing)) == [1, RECORDS_A_JOB]
        assert _held(database, 5) == set(ids)

    def test_threads_that_claim_at_once_get_different_jobs(self, database: Database) -> None:
        expected = {_enqueue(database) for _ in range(12)}
        with ThreadPoolExecutor(6) as pool:
            claimed = [job.id for found in pool.map(lambda _: _claim(database, limit=2), range(12)) for job in found]
        assert sorted(claimed) == sorted(expected)

    def test_the_hint_names_the_tenants_with_work_the_longest_waiting_first(
        self, database: Database, clock: FixedClock
    ) -> None:
        for tenant in ("umbrella", "acme", "initech"):
            _enqueue(database, tenant=tenant)
            clock.advance(seconds=1)
        assert _due(database) == ["umbrella", "acme", "initech"]
        with database.read("nobody") as transaction:
            assert jobs.tenants(transaction) == ["acme", "initech", "umbrella"]

    def test_the_hint_is_quiet_until_the_next_job_is_due(self, database: Database, clock: FixedClock) -> None:
        _enqueue(database)
        (held,) = _claim(database)
        assert _claim(database) == []
        assert _due(database) == []
        clock.advance(seconds=_LEASE_SECONDS)
        assert _due(database) == ["acme"]
        _fail(database, held, "down")
        _claim(database)
        assert _due(database) == []
        clock.advance(seconds=600)
        assert _due(database) == ["acme"]

    def test_a_new_job_wakes_a_hint_that_was_quiet(self, database: Database) -> None:
        _enqueue(database)
        (claimed,) = _claim(database)
        _do(database, lambda transaction: jobs.finish(transaction, claimed))
        assert _claim(database) == []
        assert _due(database) == []
        _enqueue(database)
        assert _due(database) == ["acme"]

    @pytest.mark.parametrize("damage", [update(due).values(next_at=2**62), delete(due)], ids=["late", "missing"])
    def test_a_damaged_hint_is_repaired(self, database: Database, damage: object) -> None:
        _enqueue(database)
        assert not _do(database, jobs.is_due_late)
        _do(database, lambda transaction: transaction.run(damage))  # type: ignore[arg-type]
        assert _due(database) == []
        assert _do(database, jobs.is_due_late)
        _do(database, jobs.repair_due)
        assert not _do(database, jobs.is_due_late)
        assert _due(database) == ["acme"]

    def test_a_job_queued_while_a_worker_finds_nothing_is_not_overlooked(self, database: Database) -> None:
        _enqueue(database)
        _claim(database)
        queued, searched = threading.Event(), threading.Event()

        def enqueue() -> None:
            with database.write("acme") as transaction:
                jobs.enqueue(transaction, "embed", 1, [])
                queued.set()
                searched.wait(0.2)  # the worker may have to wait for this transaction

        def search() -> None:
            queued.wait(10)
            _claim(database, kinds=("reflect",))
            searched.set()

        with ThreadPoolExecutor(2) as pool:
            for done in (pool.submit(enqueue), pool.submit(search)):
                done.result()
        assert _due(database) == ["acme"]


def _do(database: Database, act: Callable[[Transaction], _T], *, tenant: str = "acme") -> _T:
    with database.write(tenant) as transaction:
        return act(transaction)


def _enqueue(database: Database, *, kind: str = "embed", tenant: str = "acme") -> RecordId:
    return _do(database, lambda transaction: jobs.enqueue(transaction, kind, 1, [new_id_bytes()]), tenant=tenant)


def _fail(database: Database, held: Job, error: str) -> JobState:
    with database.write("acme") as transaction:
        return jobs.fail(transaction, held, error)


def _act_on(database: Database, action: Callable[[Transaction, RecordId], None], job_id: RecordId) -> None:
    with database.write("acme") as transaction:
        action(transaction, job_id)


def _claim(database: Database, *, limit: int = 1, kinds: tuple[str, ...] = ("embed",)) -> list[Job]:
    return _do(database, lambda transaction: jobs.claim(transaction, kinds, limit=limit))


def _held(database: Database, scope_id: int) -> set[bytes]:
    return _do(database, lambda transaction: jobs.held_records(transaction, "embed", scope_id))


def _due(database: Database) -> list[str]:
    with database.read("") as transaction:
        return jobs.tenants_due(transaction)
