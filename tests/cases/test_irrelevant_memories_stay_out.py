"""Reports of prompts filled with memories that had nothing to do with the question. With the real default embedder."""

import pytest

from retentia import Memory, Scope

SAID = [
    "The dishwasher leaks when it runs at 70 degrees, so use the eco programme.",
    "Our landlord is called Mr Okafor, he answers faster by text message.",
    "The spare key is with the neighbours on the second floor.",
    "Paper is collected on Tuesdays, glass must go to the container in the park.",
    "I set up proton bridge on the old laptop so that the mail client works.",
    "The bicycle cellar is closed between ten at night and six in the morning.",
    "Rent is 1,240 euros and is paid by standing order on the first of the month.",
    "The smoke detector in the hall needs a new battery every October.",
]


@pytest.mark.parametrize(
    "query",
    [
        "What is the boiling point of mercury in kelvin?",
        "Who won the chess olympiad?",
        "Explain the second movement of the string quartet",
        "Як приготувати борщ із грибами?",
    ],
)
def test_a_question_about_something_else_gets_nothing_and_the_reason(told: Memory, scope: Scope, query: str) -> None:
    """netclaw#1568: 46 % of what was injected had nothing to do with the question."""
    answer = told.recall(query, scope=scope)
    assert answer.hits == ()
    assert "nothing relevant" in answer.reason


@pytest.mark.parametrize("query", ["QQQQ_NOT_THERE", "zxcvbnm qwertz", "\U0001f996"])
def test_nonsense_gets_nothing(told: Memory, scope: Scope, query: str) -> None:
    """tomcounsell/ai#1213: rank fusion always returned its top results."""
    assert told.recall(query, scope=scope).hits == ()


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("proton bridge", 4),
        ("landlord", 1),
        ("Okafor", 1),
        ("When is the paper collected?", 3),
        ("How much is the rent?", 6),
    ],
)
def test_few_exact_words_find_their_message(told: Memory, scope: Scope, query: str, place: int) -> None:
    """mcp-memory-service#487: a fixed similarity threshold hid the right answer to a query of two words."""
    assert told.recall(query, scope=scope)[0].record.text == SAID[place]


def test_what_a_filter_holds_back_is_counted(told: Memory, scope: Scope) -> None:
    answer = told.recall("landlord", scope=scope, kinds=["document"])
    assert answer.hits == ()
    assert answer.filtered_count == len(SAID)
    assert "filters" in answer.reason
