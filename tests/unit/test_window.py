import pytest

from retentia.errors import InvalidInput
from retentia.model.time import Moment
from retentia.working.window import (
    Gap,
    ToolUse,
    Window,
    WindowMessage,
    WindowSettings,
    plan_window,
    with_tool_groups,
)


def conversation(count: int, *, tokens: int = 10, summarised: int = 0) -> list[WindowMessage]:
    """Return messages "1", "2"…; the first `summarised` of them are covered by the summary "s"."""
    return [
        WindowMessage(
            id=str(seq),
            seq=seq,
            role="user" if seq % 2 else "assistant",
            tokens=tokens,
            summarised_by="s" if seq <= summarised else "",
        )
        for seq in range(1, count + 1)
    ]


def numbers(messages: tuple[WindowMessage, ...]) -> list[int]:
    return [message.seq for message in messages]


def test_with_25_messages_3_pinned_and_a_window_of_20_nothing_vanishes() -> None:
    window = plan_window(conversation(25))
    assert numbers(window.pinned) == [1, 2, 3]
    assert numbers(window.verbatim) == list(range(4, 26))
    assert window.gap is None


def test_where_the_budget_forces_a_gap_it_is_named() -> None:
    window = plan_window(conversation(25), budget=230)
    assert numbers(window.pinned) == [1, 2, 3]
    assert numbers(window.verbatim) == list(range(6, 26))
    assert window.gap == Gap(("4", "5"))


def test_the_window_is_the_last_messages_or_all_that_no_summary_covers() -> None:
    long = plan_window(conversation(40, summarised=5))
    assert (numbers(long.summarised), numbers(long.verbatim)) == ([4, 5], list(range(6, 41)))
    short = plan_window(conversation(40, summarised=35))
    assert (numbers(short.summarised), numbers(short.verbatim)) == (list(range(4, 21)), list(range(21, 41)))


def test_what_a_summary_covers_is_no_gap_when_the_budget_cuts_it() -> None:
    window = plan_window(conversation(40, summarised=35), budget=100)
    assert numbers(window.verbatim) == list(range(34, 41))
    assert window.gap is None
    assert numbers(window.summarised) == list(range(4, 34))


def test_what_a_summary_that_is_not_shown_covers_is_missing() -> None:
    window = plan_window(conversation(40, summarised=35)).showing({"40"}, summaries=())
    assert numbers(window.missing) == list(range(1, 40))


def test_any_message_can_be_pinned_and_is_given_once() -> None:
    messages = conversation(30)
    messages[19] = WindowMessage(id="20", seq=20, role="user", tokens=10, pinned=True)
    window = plan_window(messages, WindowSettings(history_size=5, pinned_count=0))
    assert numbers(window.pinned) == [20]
    assert 20 not in numbers(window.verbatim)


def test_a_short_session_is_shown_whole() -> None:
    window = plan_window(conversation(5))
    assert (numbers(window.pinned), numbers(window.verbatim), window.gap) == ([1, 2, 3], [4, 5], None)
    assert plan_window([]) == Window()


def tool_conversation() -> list[WindowMessage]:
    calls = (ToolUse(id="a", name="find"), ToolUse(id="b", name="price"))
    return with_tool_groups(
        [
            WindowMessage(id="1", seq=1, role="user", tokens=10),
            WindowMessage(id="2", seq=2, role="assistant", tokens=10, tool_uses=calls),
            WindowMessage(id="3", seq=3, role="tool", tokens=10, tool_call_id="a"),
            WindowMessage(id="4", seq=4, role="user", tokens=10),
            WindowMessage(id="5", seq=5, role="tool", tokens=10, tool_call_id="b"),
            WindowMessage(id="6", seq=6, role="assistant", tokens=10),
        ]
    )


def test_a_call_and_its_results_are_one_group_even_with_words_between_them() -> None:
    assert [message.group for message in tool_conversation()] == ["", "2", "2", "", "2", ""]


def test_ids_that_begin_anew_belong_to_the_latest_call() -> None:
    use = (ToolUse(id="call_0", name="find"),)
    messages = [
        WindowMessage(id="1", seq=1, role="assistant", tokens=1, tool_uses=use),
        WindowMessage(id="2", seq=2, role="tool", tokens=1, tool_call_id="call_0"),
        WindowMessage(id="3", seq=3, role="assistant", tokens=1, tool_uses=use),
        WindowMessage(id="4", seq=4, role="tool", tokens=1, tool_call_id="call_0"),
        WindowMessage(id="5", seq=5, role="tool", tokens=1, tool_call_id="unknown"),
    ]
    assert [message.group for message in with_tool_groups(messages)] == ["1", "1", "3", "3", ""]


@pytest.mark.parametrize(
    ("budget", "shown"), [(60, [1, 2, 3, 4, 5, 6]), (59, [2, 3, 4, 5, 6]), (30, [1, 4, 6]), (9, [])]
)
def test_a_group_is_kept_whole_or_not_at_all(budget: int, shown: list[int]) -> None:
    window = plan_window(tool_conversation(), WindowSettings(pinned_count=0), budget=budget)
    assert numbers(window.verbatim) == shown


def test_pinning_one_message_of_a_group_pins_the_group() -> None:
    window = plan_window(tool_conversation(), WindowSettings(pinned_count=2))
    assert numbers(window.pinned) == [1, 2, 3, 5]


def test_one_huge_message_leaves_a_hole_and_does_not_end_the_window() -> None:
    messages = conversation(6)
    messages[4] = WindowMessage(id="5", seq=5, role="tool", tokens=900)
    window = plan_window(messages, WindowSettings(pinned_count=0), budget=200)
    assert numbers(window.verbatim) == [1, 2, 3, 4, 6]
    assert window.gap == Gap(("5",))


def test_the_gap_knows_the_time_it_spans() -> None:
    days = {seq: Moment.parse(f"2026-05-{seq:02}") for seq in (2, 3, 4)}
    messages = [
        WindowMessage(id=str(seq), seq=seq, role="user", tokens=10, at=days.get(seq)) for seq in range(1, 7)
    ]  # fmt: skip
    window = plan_window(messages, WindowSettings(pinned_count=0), budget=20)
    assert window.gap is not None
    assert (window.gap.count, window.gap.since, window.gap.until) == (4, days[2], days[4])


def test_numbers_of_messages_cannot_be_negative() -> None:
    with pytest.raises(InvalidInput):
        WindowSettings(history_size=-1)
