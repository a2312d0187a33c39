"""Calls of models are counted and refused beyond a ceiling, also by two processes, and hold nothing of the store."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from forks import fork, status_of
from retentia.errors import (
    CostCeilingReached,
    InvalidInput,
    ModelRejected,
    ModelReplyInvalid,
    ModelTimedOut,
    ModelUnavailable,
    StoreError,
)
from retentia.metering.meter import Meter
from retentia.metering.spend import Spend
from retentia.model.price import Price
from retentia.model.spending import Ceiling, Spending
from retentia.providers.chat import ChatMessage, Completion, Usage
from retentia.store import model_usage
from retentia.store.database import Database
from retentia.store.open import open_database
from retentia.testing import FakeModel, Held

ASK = [ChatMessage("user", "where?")]
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
DAY = 86_400_000_000
NOON = 20_000 * DAY + DAY // 2


class Clock:
    now = NOON

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(store_url: str, clock: Clock) -> Iterator[Database]:
    opened = open_database(store_url, clock=clock)
    yield opened
    opened.close()


def answer(tokens_in: int = 10, tokens_out: int = 5) -> Completion:
    return Completion(text="Lisbon", raw="Lisbon", usage=Usage(tokens_in, tokens_out))


def spent_today(database: Database, tenant: str = "acme") -> Spending:
    with database.read(tenant) as transaction:
        return model_usage.of_day(transaction, transaction.now // DAY)


def test_each_call_is_counted_by_day_model_and_purpose(database: Database, clock: Clock) -> None:
    spend = Spend(database, prices={"model": Price(input_per_million=2, output_per_million=10)})
    for purpose in ("extract", "extract", "summary"):
        spend.meter(FakeModel(answer()), tenant="acme", purpose=purpose).complete(ASK)
    clock.now += DAY
    spend.meter(FakeModel(answer(1, 2)), tenant="acme", purpose="extract").complete(ASK)
    spend.meter(FakeModel(answer(), identity="openai:other"), tenant="umbrella", purpose="extract").complete(ASK)
    assert [tuple(row) for row in spend.usage("acme")] == [
        (20_001, "fake:model", "extract", 1, 1, 2, 22),
        (20_000, "fake:model", "extract", 2, 20, 10, 140),
        (20_000, "fake:model", "summary", 1, 10, 5, 70),
    ]
    assert [(row.model, row.cost) for row in spend.usage("umbrella")] == [("openai:other", 0)]
    assert [row.day for row in spend.usage("acme", days=1)] == [20_001]
    assert spend.usage("nobody") == []


def test_a_metered_model_is_a_model(database: Database) -> None:
    meter = Spend(database).meter(FakeModel({"city": "Lisbon"}, "Lis" * 9), tenant="acme", purpose="p")
    assert meter.identity == "fake:model"
    assert meter.complete(ASK, schema=SCHEMA, max_tokens=50).value == {"city": "Lisbon"}
    stream = meter.stream(ASK)
    assert "".join(stream) == stream.completion.text == "Lis" * 9
    assert spent_today(database) == meter.spent
    assert meter.spent.calls == 2


def test_nothing_of_the_store_is_held_while_the_model_works(database: Database) -> None:
    held = Held(answer())
    meter = Spend(database).meter(FakeModel(held), tenant="acme", purpose="p")
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(meter.complete, ASK)
        assert held.asked.wait(10)
        with database.write("acme") as transaction:  # SQLite has one writer: this would wait for the call for ever
            model_usage.add(transaction, day=1, model="m", purpose="p", spent=Spending(calls=1))
        assert not call.done()
        assert spent_today(database).tokens_out == 4096  # reserved: the most the answer can take
        held.release.set()
        assert call.result(10).text == "Lisbon"
    assert spent_today(database) == Spending(calls=1, tokens_in=10, tokens_out=5)


@pytest.mark.parametrize(
    ("ceiling", "limit"),
    [(Ceiling(calls=2), "2 calls"), (Ceiling(tokens=160), "160 tokens"), (Ceiling(cost=0.00025), r"cost of 0\.00025")],
)
def test_a_tenants_day_is_refused_beyond_its_ceiling_before_anything_is_sent(
    database: Database, clock: Clock, ceiling: Ceiling, limit: str
) -> None:
    model = FakeModel(then=answer(20, 50))
    spend = Spend(database, day=ceiling, prices={"model": Price(input_per_million=1, output_per_million=2)})

    def call(tenant: str = "acme") -> None:
        spend.meter(model, tenant=tenant, purpose="p").complete(ASK, max_tokens=50)

    call()
    call()
    before = spent_today(database)
    with pytest.raises(CostCeilingReached, match=rf"today 'acme' may take.*{limit}.*2024-10-05 00:00 UTC") as raised:
        call()
    assert raised.value.free_at == 20_001 * DAY
    assert "retentia model ceiling" in str(raised.value)
    assert not raised.value.is_retryable
    assert len(model.asked) == 2
    assert spent_today(database) == before
    call("umbrella")
    clock.now = 20_001 * DAY
    call()


def test_a_job_has_a_ceiling_of_its_own(database: Database) -> None:
    spend = Spend(database)
    model = FakeModel(then=answer())
    meter = spend.meter(model, tenant="acme", purpose="extract", job=Ceiling(calls=2))
    meter.complete(ASK)
    list(meter.stream(ASK))
    for call in (lambda: meter.complete(ASK), lambda: next(meter.stream(ASK))):
        with pytest.raises(CostCeilingReached, match="this job may take 2 calls, of which 2 are made") as raised:
            call()
        assert raised.value.free_at is None
    assert len(model.asked) == 2
    spend.meter(model, tenant="acme", purpose="extract", job=Ceiling(calls=2)).complete(ASK)
    assert spent_today(database).calls == 3


def test_what_a_tenant_has_set_takes_the_place_of_what_holds_for_all(database: Database) -> None:
    spend = Spend(database, day=Ceiling(calls=0))
    assert spend.set_ceiling(Ceiling(calls=1), tenant="acme") == spend.ceiling("acme") == Ceiling(calls=1)
    assert spend.ceiling("umbrella") == Ceiling(calls=0)
    spend.meter(FakeModel(answer()), tenant="acme", purpose="p").complete(ASK)
    for tenant in ("acme", "umbrella"):
        with pytest.raises(CostCeilingReached):
            spend.meter(FakeModel(), tenant=tenant, purpose="p").complete(ASK)
    assert spend.set_ceiling(Ceiling(), tenant="acme") == Ceiling(calls=0)


@pytest.mark.parametrize(
    ("error", "took"),
    [
        (ModelRejected("no"), Spending(calls=1)),
        (ModelUnavailable("down"), Spending(calls=1)),
        (ModelReplyInvalid(reply="x", tokens_in=3, tokens_out=4), Spending(calls=1, tokens_in=3, tokens_out=4)),
        (ModelReplyInvalid(reply="<html>"), Spending(calls=1, tokens_in=6, tokens_out=7)),
        (ModelTimedOut("late"), Spending(calls=1, tokens_in=6, tokens_out=7)),
        (RuntimeError("a bug"), Spending(calls=1, tokens_in=6, tokens_out=7)),
    ],
)
def test_a_call_that_fails_is_counted_and_so_are_the_tokens_it_may_have_taken(
    database: Database, error: Exception, took: Spending
) -> None:
    meter = Spend(database).meter(FakeModel(error, error), tenant="acme", purpose="p")
    with pytest.raises(type(error)):
        meter.complete(ASK, max_tokens=7)
    assert spent_today(database) == meter.spent == took
    with pytest.raises(type(error)):
        list(meter.stream(ASK, max_tokens=7))
    assert spent_today(database) == meter.spent == took + took


def test_a_stream_that_is_left_early_is_counted_by_what_was_read(database: Database) -> None:
    meter = Spend(database).meter(FakeModel("Lisbon in spring" * 20), tenant="acme", purpose="p")
    with meter.stream(ASK) as stream:
        next(stream)
    assert 1 <= spent_today(database).tokens_out <= 3
    assert spent_today(database) == meter.spent


def test_a_stream_that_is_stopped_at_the_keyboard_is_counted_by_what_was_read(database: Database) -> None:
    def stopped(_: object) -> str:
        raise KeyboardInterrupt

    metered = Spend(database).meter(FakeModel(stopped), tenant="acme", purpose="chat")
    with pytest.raises(KeyboardInterrupt):
        next(metered.stream(ASK, max_tokens=500))
    assert (spent_today(database).calls, spent_today(database).tokens_out) == (1, 0)


def test_an_answer_is_not_lost_when_it_cannot_be_counted(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    meter = Spend(database).meter(FakeModel(lambda _: close_the_store()), tenant="acme", purpose="p")

    def close_the_store() -> Completion:
        def unwritable(_tenant: str) -> None:
            raise StoreError

        monkeypatch.setattr(database, "write", unwritable)
        return answer()

    assert meter.complete(ASK).text == "Lisbon"
    assert spent_today(database).tokens_out == 4096  # what was reserved stays counted


def test_a_ceiling_of_cost_needs_a_price(database: Database) -> None:
    with pytest.raises(InvalidInput, match="needs a price for 'fake:model'"):
        Spend(database, day=Ceiling(cost=1)).meter(FakeModel(), tenant="acme", purpose="p")
    spend = Spend(database)
    spend.set_ceiling(Ceiling(cost=1), tenant="acme")
    model = FakeModel(answer())
    with pytest.raises(InvalidInput, match="needs a price"):
        spend.meter(model, tenant="acme", purpose="p").complete(ASK)
    assert spent_today(database) == Spending()
    priced = spend.with_prices({"model": Price(input_per_million=1)})
    assert priced.meter(model, tenant="acme", purpose="p").complete(ASK).text == "Lisbon"
    with pytest.raises(InvalidInput, match="name both"):
        Meter(model, database, tenant="", purpose="p")


def test_two_processes_lose_no_count_and_do_not_pass_the_ceiling_together(store_url: str) -> None:
    calls, allowed = 30, 45
    open_database(store_url).close()

    def work() -> None:
        database = open_database(store_url)
        spend = Spend(database, day=Ceiling(calls=allowed))
        refused = 0
        for number in range(calls):
            meter = spend.meter(FakeModel(answer(2, 3), identity=f"m:{number % 3}"), tenant="acme", purpose="p")
            try:
                meter.complete(ASK)
            except CostCeilingReached:
                refused += 1
        database.close()
        assert refused < calls

    processes = [fork(work), fork(work)]
    assert [status_of(process) for process in processes] == [0, 0]
    database = open_database(store_url)
    assert spent_today(database) == Spending(calls=allowed, tokens_in=2 * allowed, tokens_out=3 * allowed)
    assert sum(row.calls for row in Spend(database).usage("acme")) == allowed
    database.close()


def test_threads_of_one_job_do_not_pass_its_ceiling_together(database: Database) -> None:
    meter = Spend(database).meter(FakeModel(then=answer()), tenant="acme", purpose="p", job=Ceiling(calls=10))
    start = threading.Barrier(4)

    def work(_: int) -> int:
        start.wait()
        made = 0
        for _turn in range(5):
            try:
                meter.complete(ASK)
                made += 1
            except CostCeilingReached:
                pass
        return made

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(work, range(4))) == 10
    assert spent_today(database).calls == 10


def test_a_killed_process_leaves_what_it_reserved(store_url: str) -> None:
    import os
    import signal

    open_database(store_url).close()

    def work() -> None:
        database = open_database(store_url)

        def end(_: object) -> str:
            os.kill(os.getpid(), signal.SIGKILL)
            return ""

        Spend(database).meter(FakeModel(end), tenant="acme", purpose="p").complete(ASK, max_tokens=7)

    assert status_of(fork(work)) == -9
    database = open_database(store_url)
    assert spent_today(database) == Spending(calls=1, tokens_in=6, tokens_out=7)
    database.close()
