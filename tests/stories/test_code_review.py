"""The conventions of a code review, said on one day, are there on the next: pinned, in the opening, and recalled."""

from retentia import Kind, Memory, Message, Scope, Session
from retentia.model.ids import RecordId
from retentia.model.provenance import Source
from retentia.testing_store import FixedClock

CONVENTIONS = "Our conventions for reviews: no `any`, errors are explicit return values, functional style, no classes."
REQUEST = "Please review src/cart.ts by our conventions."


def first_day(memory: Memory, anna: Scope) -> str:
    """Talk about code all day; return the id of the message that says the conventions."""
    review = Session(memory, "monday", scope=anna)
    (said,) = review.append(Message(role="user", content=CONVENTIONS, pinned=True)).ids
    for number in range(80):
        review.append(
            [f"Have a look at file {number}.ts.", Message(role="assistant", content=f"File {number}.ts is fine.")]
        )
        memory.drain()
    return said


def test_a_pinned_convention_is_word_for_word_in_every_prompt_of_the_session(sqlite_url: str, anna: Scope) -> None:
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        review = Session(memory, "monday", scope=anna)
        review.append(["Good morning!", Message(role="assistant", content="Good morning!"), "Let's begin."])
        review.append(["First the names.", Message(role="assistant", content="Fine.")])
        (said,) = review.append(Message(role="user", content=CONVENTIONS, pinned=True)).ids
        for number in range(60):
            review.append(
                Message(role="user" if number % 2 else "assistant", content=f"File {number}.ts is fine. " * 4)
            )
            memory.drain()
            context = review.context(REQUEST, budget=700)
            assert said in {one.id for one in context.manifest if one.part == "pinned"}
            assert CONVENTIONS in context.text()


def test_the_next_day_they_are_recalled_for_a_review_and_not_for_the_weather(
    sqlite_url: str, anna: Scope, clock: FixedClock
) -> None:
    with Memory.open(sqlite_url, worker=False, clock=clock) as memory:
        said = first_day(memory, anna)
        clock.advance(seconds=20 * 3600)
        tuesday = Session(memory, "tuesday", scope=anna)
        context = tuesday.context("Which conventions do we have for a code review?", budget=1000)
        assert said in {one.id for one in context.manifest}
        assert "errors are explicit return values" in context.text()
        assert said not in {one.id for one in tuesday.context("How warm will it be in Lviv at noon?").manifest}


def test_kept_as_a_procedure_they_open_every_day_that_asks_for_an_opening(
    sqlite_url: str, anna: Scope, clock: FixedClock
) -> None:
    with Memory.open(sqlite_url, embedder=None, worker=False, clock=clock) as memory:
        said = first_day(memory, anna)
        memory.remember(
            CONVENTIONS,
            Kind.PROCEDURE,
            scope=anna,
            importance="high",
            sources=[Source(kind="message", id=RecordId(said))],
        )
        memory.checkpoint(scope=anna, session="monday", end=True)
        clock.advance(seconds=20 * 3600)
        opening = memory.opening(scope=anna, request=REQUEST)
        assert [one.text for one in opening.profile] == [CONVENTIONS]
        context = memory.context("Good morning!", scope=anna, session="tuesday", opening=opening)
        assert CONVENTIONS in context.text()
        assert memory.context("Good morning!", scope=anna, session="wednesday").text().count("no `any`") == 0
