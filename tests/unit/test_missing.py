import pytest

from retentia.errors import InvalidInput
from retentia.working.importance import by_importance
from retentia.working.literals import find_literals
from retentia.working.missing import MARK, append_missing, missing
from retentia.working.original import Original
from retentia.working.tokens import EstimatingCounter

COUNTER = EstimatingCounter()


def lost(text: str, summary: str) -> list[str]:
    return [literal.text for literal in missing(find_literals(text), summary)]


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("$1,299.50", "It costs $1299.50."),
        ("1.299,50 €", "Es kostet 1299,50\u00a0€."),
        ("1 299,50 грн", "Коштує 1\u202f299,50 грн."),
        ("12 %", "so 12% of it"),
        ("„ja so“", "He said «ja so»."),
        ('"PostgreSQL 14"', "They run PostgreSQL 14 there."),
        ("`run_it`", "Call run_it first."),
        ("DEADBEEF12", "commit deadbeef12"),
        ("5", "(5), value=5"),
        ("14:30", "at 14:30."),
        ("3. März 2026", "am 3.\nMärz 2026"),
        ("42", 'he said "42 it is"'),
    ],
)
def test_another_writing_of_a_literal_is_not_missing(text: str, summary: str) -> None:
    assert lost(text, summary) == []


@pytest.mark.parametrize(
    ("text", "summary"),
    [
        ("14", "14:30, 3.14, 2014, 140, v14, 14%, $14, 2026-03-14, ZX-14"),
        ("299", "1 299 and 1,299 and 299.5"),
        ("$213.00", "$213 or 213.00 or $213.001"),
        ("14:30", "14:30:15 and 114:30"),
        ("ZX-9137", "ZX-9137-KIWI"),
        ("auth.py", "src/auth.py and auth.pyc"),
        ("auth.py line 42", "the security module, line 42"),
        ("/etc/app", "/etc/app/x.conf"),
        ("Zeile 4", "Zeile 42"),
        ("“no”", "nobody"),
    ],
)
def test_a_part_of_something_longer_is_missing(text: str, summary: str) -> None:
    assert lost(text, summary) == [text]


def test_what_a_summary_lost_is_appended_word_for_word_on_a_marked_line() -> None:
    literals = find_literals("pay $213.00 to om_x100b54 at 14:30, on PostgreSQL 14")
    appended = append_missing("They agreed to pay at 14:30.", literals, 200, COUNTER)
    assert appended.text == f"They agreed to pay at 14:30.\n{MARK} $213.00; om_x100b54; PostgreSQL 14"
    assert appended.left_out == ()


def test_nothing_is_appended_to_a_summary_that_has_everything() -> None:
    assert append_missing("at 14:30", find_literals("14:30"), 200, COUNTER).text == "at 14:30"


def test_code_on_several_lines_stands_below_the_line() -> None:
    literals = find_literals("```py\nx = 42\n```\nand 7")
    assert append_missing("", literals, 200, COUNTER).text == f"{MARK} 7\n```py\nx = 42\n```"


def test_when_room_is_short_the_first_ones_are_appended_and_the_others_returned() -> None:
    literals = find_literals("$213.00 then ZX-9137-KIWI then 550e8400-e29b-41d4-a716-446655440000")
    appended = append_missing("Paid.", literals, 25, COUNTER)
    assert appended.text == f"Paid.\n{MARK} $213.00; ZX-9137-KIWI"
    assert [literal.kind.value for literal in appended.left_out] == ["uuid"]
    assert append_missing("Paid.", literals, 0, COUNTER).text == "Paid."


def test_of_code_that_does_not_fit_its_own_literals_are_appended() -> None:
    literals = find_literals("```py\n" + "call_it()\n" * 40 + "price = 4213\n```")
    appended = append_missing("Coded.", literals, 40, COUNTER)
    assert "4213" in appended.text
    assert appended.left_out == literals


def test_an_earlier_line_is_replaced_and_what_it_kept_stays() -> None:
    first = append_missing("Paid.", find_literals("$213.00"), 200, COUNTER).text
    second = append_missing(first, find_literals("14:30"), 200, COUNTER).text
    assert second == f"Paid.\n{MARK} 14:30; $213.00"


def test_a_negative_room_is_refused() -> None:
    with pytest.raises(InvalidInput, match="room_tokens"):
        append_missing("", (), -1, COUNTER)


def test_what_decides_comes_first_then_what_users_said_then_the_rest_and_rare_before_frequent() -> None:
    messages = [
        Original(id="m1", role="assistant", text="Options are ZX-1 and ZX-2 and ZX-3."),
        Original(id="m2", role="user", text="ZX-2 costs 7 and $5, as I said."),
        Original(id="m3", role="user", text="$5 is a lot. We decided on ZX-3."),
    ]
    assert [literal.text for literal in by_importance(messages)] == ["ZX-3", "ZX-2", "$5", "7", "ZX-1"]


def test_among_equals_the_rare_one_comes_first() -> None:
    texts = ("ZX-1 and ZX-2", "ZX-1 again")
    messages = [Original(id=str(place), role="user", text=text) for place, text in enumerate(texts)]
    assert [literal.text for literal in by_importance(messages)] == ["ZX-2", "ZX-1"]
