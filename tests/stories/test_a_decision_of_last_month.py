"""A decision of last month with its reason: from Postgres to ClickHouse, and why."""

from retentia import Kind, Memory, Message, Scope, Session
from retentia.testing_store import FixedClock

DAY = 86_400.0
DECIDED = "We decided to move the events from Postgres to ClickHouse, because the weekly report took 40 seconds."
REJECTED = "We tried TimescaleDB, but it failed because our host does not allow the extension."
WHY = "Why did we move the events from Postgres to ClickHouse?"


def test_last_months_decision_is_recalled_with_its_reason_and_what_was_rejected(
    sqlite_url: str, anna: Scope, clock: FixedClock
) -> None:
    with Memory.open(sqlite_url, worker=False, clock=clock) as memory:
        march = Session(memory, "march", scope=anna)
        for number in range(20):
            march.append([f"Ticket {number} is about the layout.", Message(role="assistant", content="I'll fix it.")])
        (decided,) = march.append(DECIDED).ids
        (rejected,) = march.append(REJECTED).ids
        march.append(Message(role="assistant", content="Understood."))
        march.end()
        memory.drain()
        for week in range(4):
            clock.advance(seconds=7 * DAY)
            april = Session(memory, f"week {week}", scope=anna)
            for number in range(20):
                april.append([f"Invoice {week}-{number} is paid.", Message(role="assistant", content="Noted.")])
            april.end()
            memory.drain()

        hits = memory.recall(WHY, scope=anna)
        assert hits[0].record.id == decided
        assert hits[0].record.occurred is not None
        assert hits[0].record.occurred.iso()[:10] == "2026-03-10"
        last_month = memory.recall(WHY, scope=anna, since="2026-03", until="2026-04")
        assert decided in [hit.record.id for hit in last_month]
        assert decided not in [
            hit.record.id for hit in memory.recall(WHY, scope=anna, since="2026-04", min_relevance=0)
        ]

        (decision,) = memory.records(scope=anna, kind=Kind.DECISION).records
        assert getattr(decision, "text", "") == DECIDED
        record = memory.session_record(scope=anna, session="march")
        assert record is not None
        assert [(one.text, one.message_id) for one in record.decisions] == [(DECIDED, decided)]
        assert REJECTED in record.summary

        context = memory.context(WHY, scope=anna, session="today", budget=800).text()
        assert "because the weekly report took 40 seconds" in context
        assert rejected in [hit.record.id for hit in memory.recall("Did we try TimescaleDB?", scope=anna)]
