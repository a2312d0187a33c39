"""What is believed is what the person said last: nothing is lost, nothing is doubled, nothing is put in their mouth."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise

import pytest

from retentia import Memory, Message, Scope
from retentia.model.learned import Effect
from retentia.model.record import ITEM_KINDS, ItemRecord, MessageRecord, Status
from retentia.testing import FakeEmbedder
from retentia.testing_store import FixedClock

ME = Scope("acme", "anna")
BOB = Scope("acme", "bob")
WORK, PERSONAL = Scope("acme", "anna", space="work"), Scope("acme", "anna", space="personal")
NOON_OF_JUNE_15 = 1_781_524_800_000_000
DAY = 86_400.0


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(NOON_OF_JUNE_15)


@pytest.fixture
def memory(store_url: str, clock: FixedClock) -> Iterator[Memory]:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock) as opened:
        yield opened


def profile(memory: Memory, scope: Scope = ME, subject: str = "user") -> dict[str, list[str]]:
    return memory.facts.profile(scope=scope, subject=subject).values()


def count_items(memory: Memory, scope: Scope = ME) -> int:
    return sum(len(memory.records(scope=scope, kind=kind).records) for kind in ITEM_KINDS)


def test_erasing_what_one_person_said_leaves_the_facts_of_the_other(memory: Memory) -> None:
    memory.add("I love pizza.", scope=ME)
    memory.add("I love pasta.", scope=BOB)
    before = memory.stats(scope=BOB).records
    memory.forget(memory.plan_forgetting(everything=True, scope=ME))
    assert (profile(memory), count_items(memory)) == ({}, 0)
    assert profile(memory, BOB) == {"likes": ["pasta"]}
    assert memory.stats(scope=BOB).records == before


def test_the_same_statement_twice_is_one_fact_seen_twice(memory: Memory) -> None:
    first, second = (memory.add("I live in Berlin.", scope=ME) for _ in range(2))
    (home,) = memory.facts.history(scope=ME)
    assert (home.record.seen_count, home.is_current) == (2, True)
    assert {source.id for source in home.record.sources} == {first.id, second.id}


def test_two_facts_of_one_attribute_with_many_values_stand_beside_one_another(memory: Memory) -> None:
    memory.facts.set("hobby", "周游世界", scope=ME)
    memory.facts.set("hobby", "在周末吃夜宵", scope=ME)
    assert profile(memory) == {"hobby": ["周游世界", "在周末吃夜宵"]}


def test_who_loved_and_now_hates_has_a_current_fact_and_a_past_one(memory: Memory, clock: FixedClock) -> None:
    memory.add("I love Chinese food.", scope=ME)
    clock.advance(seconds=DAY)
    memory.add("I hate Chinese food.", scope=ME)
    assert profile(memory) == {"dislikes": ["Chinese food"]}
    (loved,) = memory.facts.history("likes", scope=ME)
    assert loved.record.valid_to == clock.now


def test_statements_that_teach_nothing_are_kept_and_found_and_the_receipt_says_so(memory: Memory) -> None:
    told = ["The sky over the harbour is grey.", "Invoice 17 is paid.", "The pump hums at night."]
    receipt = memory.add(told, scope=ME)
    assert (len(receipt.ids), receipt.learned) == (3, ())
    for text in told:
        assert memory.recall(text, scope=ME).hits[0].text == text


def test_each_write_tells_what_it_taught_and_what_became_of_it(memory: Memory) -> None:
    learned = memory.add("My name is Alice and I live in Berlin.", scope=ME).learned
    assert [(one.candidate.attribute, one.candidate.value, one.effect) for one in learned] == [
        ("name", "Alice", Effect.ADD),
        ("home", "Berlin", Effect.ADD),
    ]


def test_near_duplicates_become_one_fact_and_none_of_them_is_removed(memory: Memory) -> None:
    for text in ("I like blue cheese.", "I love blue cheese.", "I like Blue cheese!", "I really like blue cheese."):
        memory.add(text, scope=ME)
    (likes,) = memory.facts.history(scope=ME)
    assert (likes.record.seen_count, len(likes.record.sources)) == (4, 4)
    assert memory.stats(scope=ME).records["message"] == 4


def test_facts_of_work_are_not_in_the_personal_profile(memory: Memory) -> None:
    memory.add("I work at Acme.", scope=WORK)
    memory.add("I live in Berlin.", scope=PERSONAL)
    assert profile(memory, WORK) == {"employer": ["Acme"]}
    assert profile(memory, PERSONAL) == {"home": ["Berlin"]}
    assert not memory.recall("Where do I work? Acme", scope=PERSONAL, kinds=["fact"]).hits


def test_a_system_prompt_fifty_times_and_recalled_memories_echoed_back_add_nothing(memory: Memory) -> None:
    memory.add("I live in Berlin.", scope=ME)
    before = count_items(memory)
    for _ in range(50):
        memory.add({"role": "system", "content": "You are Bot. I live in a server. The user's name is Bob."}, scope=ME)
    block = memory.context("Where do I live?", scope=ME, session="s").text()
    for role in ("assistant", "system", "tool"):
        memory.add({"role": role, "content": block}, scope=ME)
        memory.add({"role": role, "content": "I live in Berlin."}, scope=ME)
    assert count_items(memory) == before
    (home,) = memory.facts.history(scope=ME)
    assert home.record.seen_count == 1


@pytest.mark.parametrize(
    "greeting", ["Hallo! Wie kann ich helfen?", "Hi there!", "Привіт! Як справи?", "Danke, super!"]
)
def test_a_greeting_is_no_fact(memory: Memory, greeting: str) -> None:
    for role in ("user", "assistant"):
        memory.add({"role": role, "content": greeting}, scope=ME)
    assert count_items(memory) == 0


def test_what_the_assistant_says_is_no_fact_of_the_user(memory: Memory) -> None:
    memory.add("Can you help me with LeetCode 25?", scope=ME)
    memory.add({"role": "assistant", "content": "I used recursion. I like recursion. You live in Berlin."}, scope=ME)
    assert count_items(memory) == 0


def test_what_is_said_of_a_third_person_is_theirs(memory: Memory) -> None:
    memory.add("What are the KPIs for Bertrand?", scope=ME)
    memory.add("My friend Jack hates football.", scope=ME)
    assert profile(memory).get("name") is None
    assert profile(memory).get("dislikes") is None
    assert profile(memory, subject="Jack") == {"dislikes": ["football"]}


def test_the_new_employer_answers_questions_about_now_and_the_old_one_about_then(
    memory: Memory, clock: FixedClock
) -> None:
    memory.add("I work at Initech.", scope=ME)
    joined = clock.now
    clock.advance(seconds=90 * DAY)
    memory.add("I now work at Globex.", scope=ME)
    memory.drain()
    answers = [hit.text for hit in memory.recall("Where do I work?", scope=ME, min_relevance=0)]
    assert answers[0] == "I now work at Globex."
    assert profile(memory) == {"employer": ["Globex"]}
    (past,) = [one for one in memory.facts.history("employer", scope=ME) if not one.is_current]
    assert (past.value, past.record.valid_from, past.record.valid_to) == ("Initech", joined, clock.now)
    then = datetime.fromtimestamp((joined + 10**6) / 10**6, UTC)
    assert memory.facts.profile(scope=ME, as_of=then).values() == {"employer": ["Initech"]}


def test_a_name_that_is_the_beginning_of_another_is_another(memory: Memory, clock: FixedClock) -> None:
    memory.add("My name is Chen Bo.", scope=ME)
    clock.advance(seconds=DAY)
    memory.add("My name is Chen Bao.", scope=ME)
    assert profile(memory) == {"name": ["Chen Bao"]}
    assert [one.value for one in memory.facts.history("name", scope=ME)] == ["Chen Bo", "Chen Bao"]


def test_a_migration_is_a_change_and_both_values_cite_their_message(memory: Memory, clock: FixedClock) -> None:
    old = memory.facts.set("database", "PostgreSQL", subject="shop", scope=ME)
    clock.advance(seconds=DAY)
    assert memory.facts.attributes.of("database").has_many  # what is not registered never supersedes
    memory.facts.set("database", "MySQL", subject="shop", scope=ME)
    assert profile(memory, subject="shop") == {"database": ["PostgreSQL", "MySQL"]}
    memory.facts.retract(str(old.record_id), scope=ME, reason="migrated")
    assert profile(memory, subject="shop") == {"database": ["MySQL"]}


def test_a_false_fact_is_retracted_from_every_channel_and_old_words_do_not_bring_it_back(
    memory: Memory, clock: FixedClock
) -> None:
    for _ in range(5):
        memory.add("I use KeePass.", scope=ME)
    memory.drain()
    (wrong,) = memory.facts.get("uses", scope=ME)
    clock.advance(seconds=DAY)
    memory.facts.retract(wrong.id, scope=ME, reason="it never worked")
    assert profile(memory) == {}
    assert not memory.recall("KeePass", scope=ME, kinds=["fact"], min_relevance=0).hits
    memory.add(Message(role="user", content="I use KeePass.", at="2026-06-01"), scope=ME, session="an old chat")
    assert profile(memory) == {}
    (kept,) = memory.facts.history("uses", scope=ME)
    assert kept.changes[-1].reason == "it never worked"
    clock.advance(seconds=DAY)
    memory.add("I use KeePass.", scope=ME)  # the person may change their mind
    assert profile(memory) == {"uses": ["KeePass"]}


def test_naming_someone_again_ends_nothing_else_that_is_true_of_them(memory: Memory) -> None:
    memory.facts.set("role", "CTO of X", subject="Anna", scope=ME)
    memory.facts.set("administers", "the GitHub organisation of X", subject="Anna", scope=ME)
    memory.facts.set("employer", "X", subject="Anna", scope=ME)
    assert profile(memory, subject="Anna") == {
        "role": ["CTO of X"],
        "administers": ["the GitHub organisation of X"],
        "employer": ["X"],
    }
    assert all(one.is_current for one in memory.facts.history(subject="Anna", scope=ME))


def test_every_view_counts_the_same_rows(memory: Memory) -> None:
    memory.add(["I live in Berlin.", "I speak English, German and Ukrainian.", "I like tea."], scope=ME)
    memory.drain()
    listed = sum(len(values) for values in profile(memory).values())
    stored = sum(memory.stats(scope=ME).records.get(kind, 0) for kind in ("fact", "preference"))
    assert listed == stored == len(memory.facts.history(scope=ME)) == 5


def test_each_verb_does_what_its_name_says(memory: Memory) -> None:
    def learn(value: str) -> str:
        return str(memory.facts.set("likes", value, scope=ME).record_id)

    confirmed = memory.facts.confirm(learn("tea"), scope=ME)
    assert (confirmed.record.status, confirmed.needs_confirmation) == (Status.CONFIRMED, False)
    assert memory.facts.correct(learn("cofee"), "coffee", scope=ME).value == "coffee"
    assert memory.facts.narrow(learn("Java"), "at work", scope=ME).claim.applies_to == "at work"
    memory.facts.reject(learn("gin"), scope=ME)
    memory.facts.retract(learn("rum"), scope=ME)
    assert profile(memory) == {"likes": ["tea", "coffee", "Java"]}


@pytest.mark.parametrize(
    ("said_at", "expected"),
    [
        ("2026", "2026-01-01T00:00:00+00:00"),
        ("2026-06-01T19:00-05:00", "2026-06-02T00:00:00+00:00"),
        ("2026-06", "2026-06-01T00:00:00+00:00"),
    ],
)
def test_a_fact_holds_from_when_it_was_said_whatever_the_zone_and_the_precision(
    memory: Memory, said_at: str, expected: str
) -> None:
    memory.add(Message(role="user", content="I live in Berlin.", at=said_at), scope=ME)
    (home,) = memory.facts.history("home", scope=ME)
    starts = datetime.fromtimestamp((home.record.valid_from or 0) / 10**6, UTC).isoformat()
    assert starts == expected
    assert profile(memory) == {"home": ["Berlin"]}


def test_a_year_and_a_day_in_it_cannot_be_ordered_and_the_person_is_asked(memory: Memory) -> None:
    memory.add(Message(role="user", content="I live in Berlin.", at="2025"), scope=ME)
    memory.add(Message(role="user", content="I live in Lviv.", at="2025-06-01"), scope=ME)
    assert profile(memory) == {"home": ["Berlin"]}
    (question,) = memory.facts.inbox(scope=ME)
    assert (question.belief.value, [one.value for one in question.against]) == ("Lviv", ["Berlin"])
    memory.facts.confirm(question.id, scope=ME)
    assert profile(memory) == {"home": ["Lviv"]}
    assert memory.facts.inbox(scope=ME) == []


def test_an_old_document_read_again_changes_nothing_that_is_believed_now(memory: Memory, clock: FixedClock) -> None:
    memory.add("I live in Lviv.", scope=ME)
    for text, at in (
        ("I live in Berlin.", "2024-03-01"),
        ("I live in Kyiv.", "2023-03-01"),
        ("I live in Berlin.", "2022"),
    ):
        memory.add(Message(role="user", content=text, at=at), scope=ME, session="an old export")
    assert profile(memory) == {"home": ["Lviv"]}
    spans = sorted((one.record.valid_from or 0, one.value) for one in memory.facts.history("home", scope=ME))
    assert [value for _, value in spans] == ["Berlin", "Kyiv", "Berlin", "Lviv"]


@pytest.mark.parametrize(
    ("attribute", "value", "question"),
    [("name", "张伟", "张伟"), ("name", "Jürgen Groß", "Groß"), ("home", "Києві", "Київ")],
)
def test_a_value_keeps_the_script_it_was_said_in(memory: Memory, attribute: str, value: str, question: str) -> None:
    memory.facts.set(attribute, value, scope=ME)
    assert profile(memory) == {attribute: [value]}
    assert memory.facts.set(attribute, question, scope=ME).effect in (Effect.ADD, Effect.SEEN_AGAIN)
    memory.drain()
    assert memory.recall(question, scope=ME, kinds=["fact"], min_relevance=0).hits


def test_after_many_corrections_the_right_name_is_the_first_answer_at_once(memory: Memory) -> None:
    names = ["Alice", "Boris", "Clara", "Denys", "Emma", "Fedir", "Greta", "Ivan", "Jana"]
    memory.add("My name is Alice.", scope=ME)
    for old, new in pairwise(names):
        memory.add(f"Actually, my name is {new}, not {old}.", scope=ME)
        first, *rest = memory.recall("What is my name?", scope=ME, limit=3, min_relevance=0).hits
        assert first.text == f"Actually, my name is {new}, not {old}."
        assert all(hit.newer is not None for hit in rest)


def test_no_recall_is_answered_with_what_is_so_now_against_its_filter(memory: Memory) -> None:
    said = memory.add("My name is Alice.", scope=ME)
    memory.add("Actually, my name is Alex, not Alice.", scope=ME, session="later")
    hits = memory.recall("What is my name?", scope=ME, session="default", min_relevance=0).hits
    assert {hit.id for hit in hits if isinstance(hit.record, MessageRecord)} <= {said.id}
    assert all("Alex, not" not in hit.text for hit in hits if isinstance(hit.record, ItemRecord))
