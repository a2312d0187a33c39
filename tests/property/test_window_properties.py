from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from retentia.working.window import Window, WindowMessage, WindowSettings, plan_window, units_of

SETTINGS = st.builds(WindowSettings, history_size=st.integers(0, 25), pinned_count=st.integers(0, 5))
BUDGETS = st.none() | st.integers(0, 400)


@st.composite
def sessions(draw: st.DrawFn) -> list[WindowMessage]:
    """Draw a session with tool groups anywhere, pins anywhere, and summaries over any messages."""
    return [
        WindowMessage(
            id=f"m{seq}",
            seq=seq,
            role=draw(st.sampled_from(["user", "assistant", "tool"])),
            tokens=draw(st.integers(0, 40)),
            pinned=draw(st.integers(0, 9)) == 0,
            summarised_by=draw(st.sampled_from(["", "", "s1", "s2"])),
            group=draw(st.sampled_from(["", "", "", "g1", "g2"])),
        )
        for seq in range(1, draw(st.integers(0, 40)) + 1)
    ]


def places(window: Window) -> Counter[str]:
    return Counter(
        message.id for part in (window.pinned, window.summarised, window.verbatim, window.missing) for message in part
    )


@given(sessions(), SETTINGS, BUDGETS)
def test_pinned_summarised_verbatim_and_gap_are_disjoint_and_complete(
    messages: list[WindowMessage], settings: WindowSettings, budget: int | None
) -> None:
    window = plan_window(messages, settings, budget=budget)
    assert places(window) == Counter(message.id for message in messages)
    assert (window.gap.ids if window.gap else ()) == tuple(message.id for message in window.missing)


@given(sessions(), SETTINGS, BUDGETS)
def test_a_tool_group_is_never_split_between_shown_and_not_shown(
    messages: list[WindowMessage], settings: WindowSettings, budget: int | None
) -> None:
    window = plan_window(messages, settings, budget=budget)
    for unit in units_of(messages):
        ids = {message.id for message in unit}
        for part in (window.pinned, window.verbatim):
            assert len(ids & {message.id for message in part}) in (0, len(ids))


@given(sessions(), SETTINGS)
def test_without_a_budget_nothing_is_missing_and_only_summarised_messages_are_not_shown(
    messages: list[WindowMessage], settings: WindowSettings
) -> None:
    window = plan_window(messages, settings)
    assert window.gap is None
    assert all(message.summarised_by for message in window.summarised)
    last = messages[len(messages) - min(settings.history_size, len(messages)) :]
    shown = {message.id for message in (*window.pinned, *window.verbatim)}
    assert shown >= {message.id for message in last}
    assert shown >= {message.id for message in messages[: settings.pinned_count]}


@given(sessions(), SETTINGS, st.integers(0, 400))
def test_the_window_keeps_to_its_budget(messages: list[WindowMessage], settings: WindowSettings, budget: int) -> None:
    window = plan_window(messages, settings, budget=budget)
    assert sum(message.tokens for message in (*window.pinned, *window.verbatim)) <= budget


@given(sessions(), SETTINGS, BUDGETS, st.randoms())
def test_the_order_in_which_messages_come_does_not_matter(
    messages: list[WindowMessage], settings: WindowSettings, budget: int | None, random: object
) -> None:
    shuffled = list(messages)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert plan_window(shuffled, settings, budget=budget) == plan_window(messages, settings, budget=budget)


@given(sessions(), SETTINGS, BUDGETS)
def test_messages_keep_the_order_of_the_session(
    messages: list[WindowMessage], settings: WindowSettings, budget: int | None
) -> None:
    window = plan_window(messages, settings, budget=budget)
    for part in (window.pinned, window.summarised, window.verbatim, window.missing):
        assert [message.seq for message in part] == sorted(message.seq for message in part)


@given(sessions(), st.sets(st.integers(1, 40)), st.none() | st.sets(st.sampled_from(["s1", "s2"])))
def test_narrowing_a_window_loses_no_message(
    messages: list[WindowMessage], shown: set[int], summaries: set[str] | None
) -> None:
    window = plan_window(messages).showing({f"m{seq}" for seq in shown}, summaries)
    assert places(window) == Counter(message.id for message in messages)
    assert all(not message.summarised_by or summaries is not None for message in window.missing)
