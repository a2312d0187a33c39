"""Signs of amnesia in one session, and what speaks against each."""

from collections.abc import Callable, Sequence
from datetime import timedelta

import pytest

from retentia.diagnose.canonical import canonical
from retentia.diagnose.check import Found, Search
from retentia.diagnose.complaints import complaint_in
from retentia.diagnose.log import Called, Said, SessionLog, Step
from retentia.diagnose.symptom import Severity, Symptom, SymptomKind
from retentia.diagnose.symptoms import symptoms
from retentia.model.message import JSON
from retentia.testing import STRANGE_TEXTS

MINUTE = 60_000_000
Maker = Callable[[str], Step]


def user(text: str) -> Said:
    return Said(id="", role="user", text=text)


def agent(text: str) -> Said:
    return Said(id="", role="assistant", text=text)


def search(
    query: str = "flights to Lviv", *, result: str | None = "3 flights", at: int | None = None, **more: bool
) -> Called:
    return Called(id="", name="search", arguments={"q": query}, result=result, at=at, **more)


def nothing_known(_: Said) -> Search:
    return lambda text: Found(said=(), relevance=0.0, threshold=0.25, by_meaning=True)


def found(*steps: Step, fresh_for: timedelta = timedelta(hours=1)) -> list[Symptom]:
    numbered = [_numbered(step, str(place)) for place, step in enumerate(steps)]
    log = SessionLog("s", numbered)
    return symptoms(log, count_tokens=len, search_before=nothing_known, fresh_for=fresh_for)


def _numbered(step: Step, number: str) -> Step:
    if isinstance(step, Said):
        return Said(id=number, role=step.role, text=step.text, at=step.at)
    return Called(
        id=number,
        name=step.name,
        arguments=step.arguments,
        result=step.result,
        failed=step.failed,
        at=step.at,
        tokens=step.tokens,
    )


def kinds(*steps: Step) -> list[SymptomKind]:
    return [one.kind for one in found(*steps)]


def test_the_same_search_asked_twice_is_a_repeated_call() -> None:
    (one,) = found(search(at=0), agent("There are three."), user("And hotels?"), search(at=4 * MINUTE))
    assert one.kind is SymptomKind.REPEATED_CALL
    assert one.ids == ("0", "3")
    assert one.tokens > 0
    assert one.severity is Severity.LOW
    assert "240 s" in one.reason
    assert "tool-call log" in one.would_help


@pytest.mark.parametrize(
    "between",
    [
        [user("Please look again.")],
        [user("Schau noch einmal nach.")],
        [user("Пошукай ще раз.")],
        [Called(id="", name="book_flight", arguments={}, result="ok")],
        [Called(id="", name="http", arguments={"method": "post"}, result="ok")],
    ],
    ids=["asked again", "asked again (de)", "asked again (uk)", "a booking", "a post"],
)
def test_a_call_with_a_reason_is_no_repetition(between: Sequence[Step]) -> None:
    assert kinds(search(), *between, search()) == []


def test_a_call_is_made_again_after_a_failure_for_another_answer_or_when_it_is_old() -> None:
    assert kinds(search(failed=True), search()) == []
    assert kinds(search(result="Error: timeout"), search()) == []
    assert kinds(search(result=""), search()) == []
    assert kinds(search(), search(result="4 flights")) == []
    assert kinds(search(at=0), search(at=61 * MINUTE)) == []
    assert found(search(at=0), search(at=61 * MINUTE), fresh_for=timedelta(hours=2)) != []


def test_reading_in_between_is_no_reason() -> None:
    looked = Called(id="", name="find_order", arguments={"id": 1}, result="sent")
    assert kinds(search(), looked, search()) == [SymptomKind.REPEATED_CALL]


def test_what_a_call_cost_is_taken_from_the_log_where_it_stands_there() -> None:
    first = search()
    again = Called(id="", name="search", arguments={"q": "flights to Lviv"}, result="3 flights", tokens=77)
    assert [one.tokens for one in found(first, again)] == [77]


def test_the_canonical_form_ignores_order_space_and_numbers_without_fraction() -> None:
    one = canonical("f", {"b": [1, 2.0, {"y": None, "x": " a b "}], "a": 1})
    assert one == canonical("f ", '{"a": 1.0, "b": [1.0, 2, {"x": "a b"}]}')
    different = [canonical("f", value) for value in (1, "1", [1], {"1": 1}, "", True, 1.5, "true")]
    assert len(set(different)) == len(different)


def test_arguments_that_cannot_be_compared_are_never_repetitions() -> None:
    deep: JSON = []
    for _ in range(2_000):
        deep = [deep]
    for arguments in (deep, "[" * 5_000, {"x": {1, 2}}):
        call = Called(id="", name="search", arguments=arguments, result="3 flights")  # type: ignore[arg-type]
        if canonical("search", arguments) is None:  # type: ignore[arg-type]
            assert found(call, call) == []
    assert canonical("search", deep) is None
    assert canonical("search", "[" * 5_000) is not None


TRIP = "We drove along the coast, saw two castles, ate fish by a lighthouse, and slept in a tiny tent by the sea."
QUESTION = "Could you please tell me your order number?"


def test_a_question_that_was_answered_is_not_asked_again() -> None:
    (one,) = found(
        agent(QUESTION), user("It is A-1742."), agent("Thanks."), user("When does it arrive?"), agent(QUESTION)
    )
    assert one.kind is SymptomKind.REPEATED_QUESTION
    assert one.ids == ("0", "1", "4")
    assert one.quotes == (QUESTION, "It is A-1742.", QUESTION)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Wie lautet Ihre Bestellnummer für diese Lieferung?", "Sie lautet A-1742."),
        ("Який номер вашого замовлення?", "Номер А-1742."),
    ],
)
def test_questions_repeat_in_every_language(question: str, answer: str) -> None:
    assert kinds(agent(question), user(answer), agent(question)) == [SymptomKind.REPEATED_QUESTION]


@pytest.mark.parametrize(
    "steps",
    [
        [agent(QUESTION), user("I don't know it."), agent(QUESTION)],
        [agent(QUESTION), user("Why do you ask?"), agent(QUESTION)],
        [agent(QUESTION), agent(QUESTION)],
        [agent(QUESTION), user(TRIP), agent(QUESTION)],
        [agent(QUESTION), user("A-1742."), user("Now about another order."), agent(QUESTION)],
        [agent("Do you want your order sent?"), user("Yes, A-1742."), agent("Do you want your order sent?")],
        [agent("- What is your order number?"), user("A-1742."), agent("- What is your order number?")],
        [agent(QUESTION), user("A-1742."), agent("Could you please tell me your street and city?")],
    ],
    ids=["not known", "asked back", "not answered", "something else", "another", "an offer", "a list", "other words"],
)  # fmt: skip
def test_a_question_with_a_reason_is_no_repetition(steps: Sequence[Step]) -> None:
    assert kinds(*steps) == []


def test_two_values_for_one_thing_are_a_contradiction() -> None:
    (one,) = found(agent("The express fee is 12 euros."), user("Good."), agent("Fine. The express fee is 15 euros."))
    assert one.kind is SymptomKind.CONTRADICTION
    assert one.ids == ("0", "2")
    assert one.quotes == ("The express fee is 12 euros.", "The express fee is 15 euros.")
    assert one.severity is Severity.HIGH


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Die Expressgebühr für Pakete beträgt 12 Euro.", "Die Expressgebühr für Pakete beträgt 15 Euro."),
        ("Плата за доставку становить 12 євро.", "Плата за доставку становить 15 євро."),
        ("Basic economy tickets are refundable for members.", "Basic economy tickets are not refundable for members."),
    ],
)  # fmt: skip
def test_contradictions_are_seen_in_every_language_and_with_a_negation(first: str, second: str) -> None:
    assert kinds(agent(first), user("Ok."), agent(second)) == [SymptomKind.CONTRADICTION]


@pytest.mark.parametrize(
    ("between", "second"),
    [
        ([], "Sorry, the express fee is 15 euros."),
        ([], "Now the express fee is 15 euros."),
        ([], "The express fee is 15 percent."),
        ([], "The standard fee is 15 euros."),
        ([], "If you order two, the express fee is 15 euros."),
        ([], "Is it that the express fee is 15 euros?"),
        ([], "The express fee is 12.00 euros."),
        ([user("I saw 15 on your site.")], "The express fee is 15 euros."),
        ([user("Take the fast express; the fee is fine.")], "The express fee is 15 euros."),
        ([Called(id="", name="get_fees", result={"express": 15})], "The express fee is 15 euros."),
        ([Called(id="", name="update_order", result="ok")], "The express fee is 15 euros."),
    ],
)
def test_what_explains_another_value_excuses_it(between: Sequence[Step], second: str) -> None:
    assert kinds(agent("The express fee is 12 euros."), *between, agent(second)) == []


def test_a_claim_that_is_nowhere_is_invented() -> None:
    (one,) = found(user("Hello."), agent("As you mentioned, your neighbour Petra takes the parcel in Leipzig."))
    assert one.kind is SymptomKind.INVENTED
    assert one.ids[-1] == "1"
    said = user("My neighbour Petra takes the parcel, she lives in Leipzig.")
    assert kinds(said, agent("As you mentioned, your neighbour Petra takes the parcel in Leipzig.")) == []


@pytest.mark.parametrize(
    "text",
    [
        "I already told you my order number!",
        "You keep asking for the same thing.",
        "How many times do I have to say it?",
        "Das habe ich doch schon gesagt.",
        "Ich habe Ihnen die Nummer bereits genannt.",
        "Hast du das schon wieder vergessen?",
        "Я вже казав вам номер.",
        "Скільки разів мені повторювати?",
        "Ви знову забули мою адресу.",
    ],
)
def test_a_complaint_is_heard(text: str) -> None:
    assert kinds(agent("What is it?"), user(text)) == [SymptomKind.COMPLAINT]


@pytest.mark.parametrize(
    "text",
    [
        "I already have a ticket.",
        "She told you that it is late.",
        'The mail says "I already told you".',
        "Tell me if I already told you.",
        "Ich habe schon gegessen.",
        "Я вже поїв.",
        "I never told you my number.",
        "I've already given Rachel a blanket.",
    ],
)
def test_what_is_no_complaint_is_left_alone(text: str) -> None:
    assert complaint_in(text) is None


def test_a_complaint_needs_an_agent_that_spoke() -> None:
    assert kinds(user("I already told you my order number!")) == []


@pytest.mark.parametrize("text", STRANGE_TEXTS.values(), ids=STRANGE_TEXTS.keys())
def test_no_log_is_too_strange_to_be_looked_through(text: str) -> None:
    call = Called(id="", name=text, arguments={text: [text]}, result=text)
    once = [user(text), agent(text), call]
    assert all(one.kind is SymptomKind.REPEATED_CALL for one in found(*once, *once))


def test_symptoms_come_in_the_order_of_what_happened() -> None:
    steps = [
        search(),
        user("I already told you."),
        agent("The express fee is 12 euros."),
        search(),
        agent("The express fee is 15 euros."),
    ]
    assert kinds(agent("Hello."), *steps) == [
        SymptomKind.COMPLAINT,
        SymptomKind.REPEATED_CALL,
        SymptomKind.CONTRADICTION,
    ]
