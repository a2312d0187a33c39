"""Sixty turns, a summariser that drops every number, six rounds: what was written exactly is still there.

After letta#3242 and #3279, netclaw#318 and OpenDigitalProductFactory PR#2262.
"""

import re

from retentia.working.extract import LineKind, extract
from retentia.working.importance import by_importance
from retentia.working.missing import append_missing, missing
from retentia.working.original import Original
from retentia.working.tokens import EstimatingCounter

COUNTER = EstimatingCounter()
EXACT = ("$213.00", "om_x100b54", "14:30", "PostgreSQL 14", "auth.py line 42")
SAID = {
    3: ("user", "Fix the login, it breaks in auth.py line 42. We run PostgreSQL 14 on AWS RDS."),
    11: ("assistant", "I'll look up the price of the order."),
    12: ("tool", '{"total": "$213.00", "id": "om_x100b54"}'),
    20: ("user", "We decided to ship at 14:30 because the office closes then."),
    31: ("user", "Tried the nightly build, but it failed because of a missing index."),
}
SESSION = [
    Original(id=f"turn-{turn}", role=role, text=text, tool="orders" if role == "tool" else "")
    for turn in range(60)
    for role, text in [
        SAID.get(turn, ("assistant" if turn % 2 else "user", "Let me think about the garden for a while."))
    ]
]


def test_protected_literals_are_there_after_six_rounds_of_a_summariser_that_drops_numbers() -> None:
    literals = by_importance(SESSION)
    summary = "The user reported a bug in the security module on line 42 and a price of 213."
    for _ in range(6):
        summary = append_missing(re.sub(r"\d", "", summary), literals, 400, COUNTER).text
        assert all(text in summary for text in EXACT)
    assert missing(literals, summary) == []


def test_an_entity_that_was_rewritten_is_missing() -> None:
    lost = [literal.text for literal in missing(by_importance(SESSION), "A bug in security.py, line 42, at 14:30.")]
    assert "auth.py line 42" in lost
    assert "14:30" not in lost


def test_without_a_model_the_extract_has_the_task_the_decision_the_failure_and_the_tool_call() -> None:
    made = extract(SESSION)
    shown = {line.kind: line for line in made.lines}
    assert all(text in made.text for text in EXACT)
    assert shown[LineKind.DECISION].message_id == "turn-20"
    assert shown[LineKind.REJECTED].message_id == "turn-31"
    assert (shown[LineKind.TOOL].tool, shown[LineKind.TOOL].message_id) == ("orders", "turn-12")
    assert made.left_out == ()


def test_in_a_small_room_the_literals_of_decisions_stay_and_the_others_are_handed_back() -> None:
    appended = append_missing("A summary.", by_importance(SESSION), 30, COUNTER)
    assert "14:30" in appended.text
    assert "PostgreSQL 14" in appended.text
    assert '"om_x100b54"' in {literal.text for literal in appended.left_out}
