"""Learning by a model as a durable job: nothing is held while it works, nothing is lost, and nothing comes back."""

import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from chat_server import completion, failing, scripted
from retentia import Memory, Scope, Session
from retentia.errors import ModelUnavailable
from retentia.learn.inline import LearningSettings
from retentia.learn.model_extract import SCHEMA
from retentia.model.belief import Proposal
from retentia.model.message import JSON
from retentia.model.record import Status
from retentia.model.session_record import Learning
from retentia.model.spending import Ceiling
from retentia.providers.chat.models import Models
from retentia.store import jobs
from retentia.testing import FakeModel, Held
from retentia.testing_store import FixedClock
from retentia.working.settings import WorkingSettings

ANNA = Scope("acme", "anna")
SAID = "The database I use in the shop is called ClickHouse, to everyone's surprise."
QUOTE = "The database I use in the shop is called ClickHouse"
NOTHING: dict[str, JSON] = {"items": []}


def item(**given: JSON) -> dict[str, JSON]:
    """Build what a model says of SAID, unless said otherwise."""
    return {
        "kind": "fact",
        "message": "m1",
        "quote": QUOTE,
        "subject": "user",
        "attribute": "uses",
        "value": "ClickHouse",
        "is_not": False,
        "manner": "asserted",
        "since": "",
        "until": "",
        "applies_to": "",
        "due": "",
        "reasons": [],
        "rejected": [],
        **given,
    }


FOUND: dict[str, JSON] = {"items": [item()]}


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


def opened(url: str | Path, model: FakeModel | str | None, clock: FixedClock | None = None, **more: object) -> Memory:
    models = Models(learn=model, **{name: more.pop(name) for name in ("job", "day") if name in more})  # type: ignore[arg-type]
    given = {"clock": clock} if clock else {}
    return Memory.open(url, embedder=None, worker=False, models=models, **given, **more)  # type: ignore[arg-type]


@pytest.fixture
def slow() -> Iterator[Held]:
    """A model that keeps its answer back until it is released, which happens at the latest when the test ends."""
    held = Held(FOUND)
    yield held
    held.release.set()


def proposals(memory: Memory) -> list[Proposal]:
    return memory.facts.inbox(scope=ANNA)


def values(memory: Memory) -> list[str]:
    return [one.belief.value for one in proposals(memory)]


def queued(memory: Memory) -> list[tuple[str, int]]:
    return [(job.state, job.attempts) for job in memory.jobs(tenant="acme") if job.kind == jobs.UNDERSTAND]


def test_what_a_model_reads_out_of_a_session_waits_for_the_person(store_url: str, clock: FixedClock) -> None:
    model = FakeModel(FOUND, identity="fake:small")
    with opened(store_url, model, clock) as memory:
        chat = Session(memory, "chat", scope=ANNA)
        receipt = chat.append(SAID)
        assert memory.facts.profile(scope=ANNA).values() == {}
        record = chat.end()
        assert record is not None
        (proposal,) = proposals(memory)
        assert record.learning is Learning.LEARNED
        assert proposal.id in record.learned
        told = proposal.belief.record
        assert (told.status, told.text, told.author) == (Status.CANDIDATE, QUOTE, "user")
        assert [(one.id, one.start, one.end) for one in told.sources] == [(receipt.id, 0, len(QUOTE))]
        assert told.body["by"] == "fake:small"
        assert proposal.why == "a model read it out of what was said"
        assert memory.facts.profile(scope=ANNA).values() == {}
        assert memory.recall("ClickHouse", scope=ANNA).hits[0].record.id == receipt.id
        memory.facts.confirm(proposal.id, scope=ANNA)
        assert memory.facts.profile(scope=ANNA).values() == {"uses": ["ClickHouse"]}
        (usage,) = [one for one in memory.spending.usage("acme") if one.model]
        assert (usage.purpose, usage.calls) == ("learn", 1)


def test_a_session_is_read_once_and_what_is_new_in_it_later(store_url: str, clock: FixedClock) -> None:
    model = FakeModel(FOUND, NOTHING)
    with opened(store_url, model, clock) as memory:
        chat = Session(memory, "chat", scope=ANNA)
        chat.append(SAID)
        chat.checkpoint()
        chat.checkpoint()
        assert model.left == 1
        chat.append(
            [{"role": "assistant", "content": "Noted."}, {"role": "user", "content": "The pier is short, too."}]
        )
        chat.end()
        (_, (_, asked)) = model.asked
        assert "The pier is short" in asked.text
        assert "ClickHouse" not in asked.text
        assert values(memory) == ["ClickHouse"]


def test_a_session_of_small_talk_costs_no_call(store_url: str, clock: FixedClock) -> None:
    with opened(store_url, FakeModel(), clock) as memory:
        chat = Session(memory, "chat", scope=ANNA)
        chat.append([{"role": "user", "content": "Hello!"}, {"role": "assistant", "content": "Hi, how can I help?"}])
        record = chat.end()
        assert record is not None
        assert record.learning is Learning.NOTHING
        assert queued(memory) == []


def test_a_long_session_is_read_in_stretches_without_a_gap(sqlite_url: str, clock: FixedClock) -> None:
    texts = [f"Cousin number {number} sells boats in harbour {number}." for number in range(1, 121)]
    model = FakeModel(then=NOTHING)
    with opened(sqlite_url, model, clock, learning=LearningSettings(stretch_tokens=300)) as memory:
        memory.add(texts, scope=ANNA, session="chat")
        memory.checkpoint(scope=ANNA, session="chat")
        assert queued(memory) == []
    shown = [line[2:] for _, user in model.asked for line in user.text.splitlines() if line.startswith("| ")]
    assert shown == texts
    assert len(model.asked) > 5


def test_a_session_that_ends_by_silence_is_learned_from_by_the_sweep(store_url: str, clock: FixedClock) -> None:
    with Memory.open(
        store_url,
        embedder=None,
        worker=False,
        clock=clock,
        models=Models(learn=FakeModel(FOUND)),
        working=WorkingSettings(idle_minutes=30),
    ) as memory:
        memory.add(SAID, scope=ANNA, session="chat")
        clock.advance(seconds=31 * 60)
        memory._workers.summarising._sweep(lambda: False)
        assert queued(memory) == [("queued", 0)]
        memory.drain()
        assert values(memory) == ["ClickHouse"]


@pytest.mark.parametrize(
    "models", [None, Models(summary="none", learn="none"), Models(main=FakeModel(), summary="none")]
)
def test_without_a_model_to_learn_nothing_is_queued(sqlite_url: str, models: Models | None) -> None:
    with Memory.open(sqlite_url, embedder=None, worker=False, models=models) as memory:
        memory.add(SAID, scope=ANNA, session="chat")
        record = memory.checkpoint(scope=ANNA, session="chat")
        assert memory.jobs(tenant="acme") == []
        assert record is not None
        assert record.learning is Learning.BY_RULES


def test_what_summarises_also_learns_unless_another_is_named(sqlite_url: str, clock: FixedClock) -> None:
    main, cheap = FakeModel(), FakeModel("The user spoke of a database and of a shop.", then=FOUND)
    models = Models(main=main, summary=cheap)
    with Memory.open(sqlite_url, embedder=None, worker=False, clock=clock, models=models) as memory:
        memory.add(SAID, scope=ANNA, session="chat")
        memory.checkpoint(scope=ANNA, session="chat")
        memory.drain()
        assert {one.purpose for one in memory.spending.usage("acme") if one.model == cheap.identity} == {
            "summary",
            "learn",
        }
    assert main.asked == []


def test_no_connection_is_held_while_the_model_works(
    store_url: str, slow: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pool of one connection, a slow model, and 20 sessions that go on meanwhile."""
    with opened(store_url, FakeModel(slow)) as memory:
        memory.add(SAID, scope=ANNA, session="chat")
        pool = memory._database._engine.pool
        monkeypatch.setattr(pool, "_max_overflow", 0)
        monkeypatch.setattr(pool._pool, "maxsize", 1, raising=False)  # type: ignore[attr-defined]
        with ThreadPoolExecutor(21) as threads:
            ending = threads.submit(memory.checkpoint, scope=ANNA, session="chat")
            assert slow.asked.wait(30)
            said = threads.map(
                lambda number: memory.add("The pier is short.", scope=ANNA, session=f"other {number}"), range(20)
            )
            assert len(list(said)) == 20
            assert not ending.done()
            slow.release.set()
            record = ending.result(60)
        assert record is not None
        assert record.learning is Learning.LEARNED


def test_a_message_erased_during_the_call_teaches_nothing_and_the_rest_is_read_again(
    store_url: str, slow: Held
) -> None:
    model = FakeModel(slow, NOTHING)
    with opened(store_url, model) as memory:
        chat = Session(memory, "chat", scope=ANNA)
        said = chat.append([SAID, "The pier is short."])
        working = _ending(chat)
        assert slow.asked.wait(30)
        memory.erase(said.ids[0], scope=ANNA)
        slow.release.set()
        working.join(30)
        memory.drain()
        assert values(memory) == []
        assert "ClickHouse" not in model.asked[1][1].text
        assert "pier" in model.asked[1][1].text


def test_a_session_erased_during_the_call_stays_erased(store_url: str, slow: Held) -> None:
    with opened(store_url, FakeModel(slow)) as memory:
        chat = Session(memory, "chat", scope=ANNA)
        said = chat.append([SAID, "The pier is short."])
        working = _ending(chat)
        assert slow.asked.wait(30)
        memory.erase(said.ids, scope=ANNA)
        slow.release.set()
        working.join(30)
        memory.drain()
        assert values(memory) == []
        assert memory.sessions(scope=ANNA) == []


def test_what_is_said_and_decided_during_a_long_call_is_so_afterwards(store_url: str, slow: Held) -> None:
    """Case 46: the snapshot of a long call wrote over what was new."""
    with opened(store_url, FakeModel(slow, NOTHING)) as memory:
        chat = Session(memory, "chat", scope=ANNA)
        chat.append(SAID)
        working = _ending(chat)
        assert slow.asked.wait(30)
        memory.facts.set("home", "Kyiv", scope=ANNA, confirmed=True)
        rejected = memory.facts.set("uses", "ClickHouse", scope=ANNA)
        assert rejected.record_id is not None
        memory.facts.reject(rejected.record_id, scope=ANNA)
        chat.append("My name is Anna.")
        slow.release.set()
        working.join(30)
        memory.drain()
        assert memory.facts.profile(scope=ANNA).values() == {"home": ["Kyiv"], "name": ["Anna"]}
        assert values(memory) == []
        assert queued(memory) == []


def test_a_worker_paused_past_its_lease_writes_nothing_over_the_one_that_took_over(
    store_url: str, clock: FixedClock, slow: Held
) -> None:
    other: dict[str, JSON] = {"items": [item(value="shop", attribute="owns")]}
    with opened(store_url, FakeModel(slow), clock) as memory, opened(store_url, FakeModel(other), clock) as second:
        chat = Session(memory, "chat", scope=ANNA)
        chat.append(SAID)
        working = _ending(chat)
        assert slow.asked.wait(30)
        clock.advance(seconds=3600)
        second.drain()
        assert values(memory) == ["shop"]
        slow.release.set()
        working.join(30)
        memory.drain()
        assert values(memory) == ["shop"]
        assert queued(memory) == []


def test_two_workers_on_jobs_for_one_session_learn_each_thing_once(store_url: str, slow: Held) -> None:
    with opened(store_url, FakeModel(slow)) as memory, opened(store_url, FakeModel(FOUND, NOTHING)) as second:
        chat = Session(memory, "chat", scope=ANNA)
        chat.append(SAID)
        working = _ending(chat)
        assert slow.asked.wait(30)
        chat.append("The pier is short.")
        second.checkpoint(scope=ANNA, session="chat")  # its own job: the first one is under way
        slow.release.set()
        working.join(30)
        memory.drain()
        (proposal,) = proposals(memory)
        assert proposal.belief.record.seen_count == 1
        assert queued(memory) == []


def test_a_ceiling_postpones_without_counting_the_attempt(store_url: str, clock: FixedClock) -> None:
    with opened(store_url, FakeModel(NOTHING, FOUND), clock, day=Ceiling(calls=1)) as memory:
        Session(memory, "first", scope=ANNA).append("The pier is short.")
        memory.checkpoint(scope=ANNA, session="first")
        memory.add(SAID, scope=ANNA, session="second")
        record = memory.checkpoint(scope=ANNA, session="second", timeout=0.1)
        assert record is None or record.learning is Learning.QUEUED
        memory.drain()
        assert queued(memory) == [("queued", 0)]
        clock.advance(seconds=86_400)
        memory.drain()
        assert values(memory) == ["ClickHouse"]


def test_a_model_that_is_down_loses_nothing_and_is_asked_again(store_url: str, clock: FixedClock) -> None:
    with opened(store_url, FakeModel(ModelUnavailable(), ModelUnavailable(), FOUND), clock) as memory:
        receipt = memory.add(SAID, scope=ANNA, session="chat")
        record = memory.checkpoint(scope=ANNA, session="chat")
        assert record is not None
        assert record.learning is Learning.QUEUED
        assert memory.status(receipt) == "queued"
        for _ in range(3):
            clock.advance(seconds=60)
            memory.drain()
        assert values(memory) == ["ClickHouse"]
        assert memory.wait(receipt) == "indexed"


def test_a_later_attempt_shows_less(sqlite_url: str, clock: FixedClock) -> None:
    texts = [f"Cousin number {number} sells boats in harbour {number}." for number in range(1, 101)]
    model = FakeModel("cut o", then=NOTHING)
    with opened(sqlite_url, model, clock) as memory:
        memory.add(texts, scope=ANNA, session="chat")
        memory.checkpoint(scope=ANNA, session="chat")
        clock.advance(seconds=60)
        memory.drain()
    first, second, *_ = (len(user.text) for _, user in model.asked)
    assert second < 0.7 * first


def test_with_model_states_only_what_its_message_bears_out_in_every_respect_is_stated(
    store_url: str, clock: FixedClock
) -> None:
    doubtful = "Lately our shop runs on Debezium."
    order = "Before deploying, somebody should always have a look at the plan."
    found: dict[str, JSON] = {
        "items": [
            item(),
            item(message="m2", quote=doubtful, value="Debezium"),
            item(message="m3", kind="procedure", attribute="procedure", quote=order, value="have a look at the plan"),
            item(message="m77", quote="I adore borscht", value="borscht", attribute="likes"),
        ]
    }
    settings = LearningSettings(model_states=True)
    with opened(store_url, FakeModel(found), clock, learning=settings) as memory:
        memory.add([SAID, doubtful, order], scope=ANNA, session="chat")
        memory.checkpoint(scope=ANNA, session="chat")
        assert memory.facts.profile(scope=ANNA).values() == {"uses": ["ClickHouse"]}
        assert memory.facts.get("uses", scope=ANNA)[0].record.status is Status.STATED
        assert "Debezium" in values(memory)
        assert "borscht" not in values(memory)


def test_the_cursor_of_a_session_lies_in_the_bin_and_comes_back_with_it(store_url: str, clock: FixedClock) -> None:
    with opened(store_url, FakeModel(FOUND), clock) as memory:
        memory.add(SAID, scope=ANNA, session="chat")
        memory.checkpoint(scope=ANNA, session="chat")
        planned = memory.plan_forgetting(scope=ANNA, session="chat")
        done = memory.forget(planned, undo_for=timedelta(days=1))
        assert memory.sessions(scope=ANNA) == []
        memory.keeping.restore(done.id, scope=ANNA)
        assert values(memory) == ["ClickHouse"]
        memory.checkpoint(scope=ANNA, session="chat")
        assert queued(memory) == []


def test_over_http_a_refusing_server_and_a_malformed_answer_are_asked_again(sqlite_url: str, clock: FixedClock) -> None:
    with scripted() as server, opened(sqlite_url, f"openai:m@{server.url}", clock) as memory:
        server.script = [
            failing(401, {"message": "no"}),
            completion("I could not find any."),
            completion(f"```json\n{json.dumps(FOUND)}\n```", usage=(500, 90)),
        ]
        memory.add(SAID, scope=ANNA, session="chat")
        memory.checkpoint(scope=ANNA, session="chat")
        for _ in range(3):
            clock.advance(seconds=600)
            memory.drain()
        assert values(memory) == ["ClickHouse"]
        assert queued(memory) == []
        assert server.requests[1]["response_format"]["json_schema"]["schema"] == SCHEMA


def test_a_real_model_over_http_proposes_only_what_was_said_or_is_asked_again(
    real_model_url: str, tmp_path: Path
) -> None:
    """What a model of 135 million parameters says is not judged; that nothing it makes up is kept is."""
    with opened(tmp_path / "memory.db", f"openai:smollm2@{real_model_url}") as memory:
        memory.add([SAID, "My cat Mia sleeps on the keyboard."], scope=ANNA, session="chat")
        memory.checkpoint(scope=ANNA, session="chat")
        said = "\n".join(message.text for message in memory.messages(scope=ANNA, session="chat"))
        assert all(one.belief.value in said and one.belief.record.text in said for one in proposals(memory))
        assert memory.facts.profile(scope=ANNA).values() == {"pet": ["Mia"]}  # by a rule
        usage = [one for one in memory.spending.usage("acme") if one.model]
        assert usage[0].purpose == "learn"
        assert usage[0].tokens_in > 300
        states = [state for state, _ in queued(memory)]
        record = memory.session_record(scope=ANNA, session="chat")
        assert record is not None
        assert states in ([], ["queued"])
        assert record.learning is not Learning.BY_RULES


def _ending(chat: Session) -> threading.Thread:
    working = threading.Thread(target=chat.end)
    working.start()
    return working
