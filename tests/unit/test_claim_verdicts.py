"""A claim is in context, stored but not shown, or nowhere; where that cannot be told there is no verdict."""

from collections.abc import Sequence

import pytest

from retentia.diagnose.check import ClaimCheck, Found, Verdict, check
from retentia.diagnose.claims import find_claims
from retentia.diagnose.log import Said

BUDGET = Said(id="b", role="user", text="My budget for the trip is 1,200 euros, hotels included.")


def checked(
    text: str,
    *,
    shown: Sequence[Said] = (),
    stored: Sequence[Said] = (),
    relevance: float = 0.0,
    by_meaning: bool = False,
) -> ClaimCheck:
    (claim,) = find_claims(text)
    found = Found(said=stored, relevance=relevance, threshold=0.25, by_meaning=by_meaning)
    (one,) = check([claim], shown, lambda _: found)
    return one


def test_what_was_shown_is_in_context() -> None:
    one = checked("You told me that your budget is 1200 euros.", shown=[BUDGET])
    assert one.verdict is Verdict.IN_CONTEXT
    assert one.evidence is BUDGET
    assert one.score == 1.0
    assert one.relevance is None


def test_what_the_memory_holds_is_stored_but_not_shown() -> None:
    one = checked("You told me that your budget is 1200 euros.", stored=[BUDGET], relevance=0.9)
    assert one.verdict is Verdict.NOT_SHOWN
    assert one.evidence is BUDGET
    assert one.relevance == 0.9


def test_what_nobody_said_is_nowhere() -> None:
    text = "As you mentioned, your neighbour Petra feeds the three cats in Leipzig."
    one = checked(text, shown=[BUDGET], relevance=0.1)
    assert one.verdict is Verdict.NOWHERE
    assert one.score == 0.0


def test_another_number_than_was_said_is_nowhere_and_shows_what_was_said() -> None:
    one = checked("You told me that your budget for the trip is 900 euros.", shown=[BUDGET])
    assert one.verdict is Verdict.NOWHERE
    assert one.evidence is BUDGET
    assert one.reason == "something like it was said, with other numbers"


@pytest.mark.parametrize("spelt", ["1,200", "1200", "1.200", "1200.00"])
def test_a_number_is_the_same_in_every_spelling(spelt: str) -> None:
    assert checked(f"You told me that your budget is {spelt} euros.", shown=[BUDGET]).verdict is Verdict.IN_CONTEXT


def test_who_said_it_must_be_who_is_said_to_have_said_it() -> None:
    one = checked("As I mentioned, your budget for the trip is 1200 euros.", shown=[BUDGET])
    assert one.verdict is None
    assert one.reason == "it was not the agent who said it: user"
    item = Said(id="i", role="item", text=BUDGET.text)
    assert checked("As I mentioned, your budget is 1200 euros.", shown=[item]).verdict is Verdict.IN_CONTEXT


def test_what_we_agreed_on_may_have_been_said_by_either() -> None:
    for role in ("user", "assistant"):
        said = Said(id="a", role=role, text="Let us launch the new shop in May then.")
        assert checked("We agreed that the shop launches in May.", shown=[said]).verdict is Verdict.IN_CONTEXT


def test_a_deed_is_shown_by_a_tool_call_too() -> None:
    call = Said(id="c", role="tool", text='find_invoice {"number": "R-77"} {"paid": true}')
    assert checked("I've already checked invoice R-77.", shown=[call]).verdict is Verdict.IN_CONTEXT
    assert checked("As I said, invoice R-77 is found.", shown=[call]).verdict is None


def test_a_paraphrase_gets_no_verdict() -> None:
    said = Said(id="v", role="user", text="I don't eat meat or fish.")
    assert checked("You told me that you are vegetarian.", shown=[said]).verdict is None
    assert checked("You told me that you are vegetarian.", stored=[said]).verdict is None


def test_a_missing_time_proves_nothing() -> None:
    said = Said(id="t", role="user", text="My flight home leaves on the fifth.")
    assert (
        checked("You told me that your flight leaves on 2026-05-05 at 14:30 from Munich.", shown=[said]).verdict is None
    )


def test_a_bare_claim_is_judged_by_the_context_alone() -> None:
    own = Said(id="o", role="assistant", text="The fee is 20 euros.")
    assert checked("As I mentioned.").verdict is None
    assert checked("As I mentioned.", shown=[BUDGET], stored=[own]).verdict is None
    assert checked("As I mentioned.", shown=[own]).verdict is Verdict.IN_CONTEXT


def test_one_word_is_too_little_to_be_offered_from_the_memory() -> None:
    said = Said(id="f", role="user", text="Which formula is it?")
    assert checked("The formula you mentioned uses sums.", stored=[said], relevance=1.0).verdict is None


def test_few_words_are_nowhere_only_where_meaning_was_compared() -> None:
    text = "You told me that you keep bees."
    assert checked(text, relevance=0.1).verdict is None
    assert checked(text, relevance=0.1, by_meaning=True).verdict is Verdict.NOWHERE
    assert checked(text, relevance=0.9, by_meaning=True).verdict is None


def test_a_long_text_supports_a_claim_only_where_it_stands_together() -> None:
    words = ["budget", "Lisbon", "harbour", "sunset", "violin", "garden"]
    far = ". ".join(f"The {word} is here" + " and nothing else happens at all" * 20 for word in words)
    claim = "You told me that the budget Lisbon harbour sunset violin garden matter."
    assert checked(claim, shown=[Said(id="x", role="user", text=far)]).verdict is not Verdict.IN_CONTEXT
    assert checked(claim, shown=[Said(id="x", role="user", text=" ".join(words))]).verdict is Verdict.IN_CONTEXT
