"""Three pinned messages and a window of 20: at the 25th message, numbers 4 and 5 used to vanish without a word."""

import pytest

from retentia import Memory, Message, Scope, Session
from retentia.evals.replay import given_twice, unnamed
from retentia.working.settings import WorkingSettings
from retentia.working.summary import SummaryPolicy

POLICIES = {
    "summaries in time": (SummaryPolicy(), 1),
    "summaries late": (SummaryPolicy(), 7),
    "summaries by turns": (SummaryPolicy(kind="turns"), 1),
    "no summaries": (SummaryPolicy(kind="off"), 1),
}


def message(number: int) -> Message:
    text = f"Message {number}: the fee of part {number} is ${number}.25. " + "We went through the details. " * (
        number % 9
    )
    return Message(role="user" if number % 2 else "assistant", content=text)


@pytest.mark.parametrize("budget", [250, 700, 1500, 20_000])
@pytest.mark.parametrize("policy", POLICIES)
def test_no_message_is_unnamed_at_any_step_and_the_first_three_stay(
    sqlite_url: str, anna: Scope, policy: str, budget: int
) -> None:
    chosen, every = POLICIES[policy]
    with Memory.open(sqlite_url, embedder=None, worker=False, working=WorkingSettings(summary=chosen)) as memory:
        chat = Session(memory, "chat", scope=anna)
        ids: list[str] = []
        for number in range(1, 61):
            ids += chat.append(message(number)).ids
            if number % every == 0:
                memory.drain()
            context = chat.context("What were the fees?", budget=budget)
            history = memory.history(scope=anna, session="chat", whole=True)
            assert context.total_tokens <= budget
            assert unnamed(context, history) == set()
            assert given_twice(context, history) == set()
            if budget >= 1500:
                assert [one.id for one in context.manifest if one.part == "pinned"] == ids[:3]
            if context.gap is not None:
                count = context.gap.count
                assert f"({count} earlier message{'s are' if count > 1 else ' is'} not shown here" in context.text()


def test_at_the_25th_message_all_are_there_and_where_none_has_a_summary_the_window_grows(
    sqlite_url: str, anna: Scope
) -> None:
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        chat = Session(memory, "chat", scope=anna)
        for number in range(1, 26):
            chat.append(message(number))
        shown = chat.context("What was the fee of part 4?", budget=20_000)
        assert len([one for one in shown.manifest if one.part in ("pinned", "recent")]) == 25
        assert "$4.25" in shown.text()
        assert "$5.25" in shown.text()


def test_a_message_that_the_budget_leaves_out_is_found_by_asking_for_it(sqlite_url: str, anna: Scope) -> None:
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        chat = Session(memory, "chat", scope=anna)
        for number in range(1, 26):
            chat.append(message(number))
        tight = chat.context("Shall we go on?", budget=500)
        assert tight.gap is not None
        left_out = {memory.get(one, scope=anna).text.split(":")[0] for one in tight.gap.ids}
        assert "Message 4" in left_out
        assert "fee of part 4 is $4.25" in chat.context("What was the fee of part 4?", budget=500).text()


@pytest.mark.parametrize("budget", [1500, 3000])
def test_no_message_is_missing_where_the_session_would_fit_as_it_was_said(
    sqlite_url: str, anna: Scope, budget: int
) -> None:
    with Memory.open(sqlite_url, embedder=None, worker=False) as memory:
        chat = Session(memory, "chat", scope=anna)
        for number in range(1, 61):
            chat.append(message(number))
            memory.drain()
            context = chat.context("Shall we go on?", budget=budget)
            if context.full_history_tokens < budget * 0.9:
                assert context.gap is None, "a summary must not take the place of what would fit"
        assert context.full_history_tokens > 1500
