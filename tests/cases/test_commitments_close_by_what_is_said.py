"""A commitment ends when the person says that it is done or dropped, and only then (SPEC E2)."""

from collections.abc import Sequence

import pytest

from retentia import Memory, Message, Scope


def promised(memory: Memory, scope: Scope) -> dict[str, str]:
    return {one.what: str(one.status) for one in memory.episodes.commitments(scope=scope)}


@pytest.mark.parametrize(
    ("promise", "later", "status"),
    [
        ("I'll send the report by Friday.", "I sent the report this morning.", "done"),
        ("I'll send the report by Friday.", "We decided not to send the report.", "dropped"),
        ("Ich muss bis Freitag den Bericht abgeben.", "Den Bericht habe ich abgegeben.", "done"),
        ("Я маю надіслати звіт до п'ятниці.", "Я надіслала звіт.", "done"),
    ],
)
@pytest.mark.parametrize("in_bulk", [False, True])
def test_what_the_person_says_is_done_or_dropped_is_open_no_more(
    memory: Memory, scope: Scope, promise: str, later: str, status: str, in_bulk: bool
) -> None:
    memory.add(promise, scope=scope)
    (made,) = memory.episodes.list_open_items(scope=scope)
    filling = [f"Thanks, number {one}." for one in range(40)] if in_bulk else []
    receipt = memory.add([later, *filling], scope=scope)
    memory.drain()
    assert memory.episodes.list_open_items(scope=scope) == []
    (closed,) = memory.episodes.commitments(scope=scope)
    assert (closed.id, closed.status, closed.evidence) == (made.id, status, receipt.ids[0])


@pytest.mark.parametrize(
    "later",
    [
        ["Done!"],
        ["I almost sent the report."],
        ["Did I say that I sent the report?"],
        ["> I sent the report."],
        [Message(role="assistant", content="I sent the report.")],
        [Message(role="tool", content="I sent the report.")],
        [Message(role="user", content="I sent the report.", speaker="Bob")],
        [Message(role="user", content="I sent the report.", at="2020-01-02")],
        ["I sent the invoice."],
    ],
)
def test_what_does_not_say_so_without_doubt_closes_nothing(
    memory: Memory, scope: Scope, later: Sequence[str | Message]
) -> None:
    memory.add("I'll send the report by Friday.", scope=scope)
    memory.add(later, scope=scope)
    assert list(promised(memory, scope).values()) in (["open"], ["overdue"])


def test_words_that_could_mean_two_commitments_close_neither(memory: Memory, scope: Scope) -> None:
    memory.add("I'll send the report to Anna by Friday.", scope=scope)
    memory.add("I'll send the report to Bob by Friday.", scope=scope)
    memory.add("I sent the report.", scope=scope)
    assert len(memory.episodes.list_open_items(scope=scope)) == 2
    memory.add("I sent the report to Anna.", scope=scope)
    assert [one.what for one in memory.episodes.list_open_items(scope=scope)] == ["send the report to Bob"]


def test_a_promise_made_after_it_was_done_once_stays_open(memory: Memory, scope: Scope) -> None:
    memory.add(["I sent the report.", "I'll send the report by Friday."], scope=scope)
    assert len(memory.episodes.list_open_items(scope=scope)) == 1


def test_a_closed_commitment_is_promised_anew(memory: Memory, scope: Scope) -> None:
    memory.add("I'll send the report by Friday.", scope=scope)
    memory.add("I sent the report.", scope=scope)
    memory.add("I'll send the report by Friday.", scope=scope)
    assert len(memory.episodes.list_open_items(scope=scope)) == 1
