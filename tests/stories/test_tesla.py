"""Tesla: $213 three days ago, $218.40 now. Both are known with their times, and the newer one as newer."""

from retentia import Memory, Message, Scope, Session, ToolCall
from retentia.testing import FakeEmbedder
from retentia.testing_store import FixedClock
from retentia.tools.freshness import CallAgain, Reuse

DAY = 86_400.0
TSLA = {"symbol": "TSLA"}
ASKED = "What is the price of Tesla, symbol TSLA?"


def look_up(session: Session, price: float) -> None:
    session.append(ASKED)
    session.log_tool_call(ToolCall(name="get_stock_price", arguments=TSLA, result={"price": price, "currency": "USD"}))
    session.append(Message(role="assistant", content=f"Tesla (TSLA) stands at ${price:.2f}."))


def test_the_price_of_three_days_ago_and_that_of_now_are_told_apart(
    store_url: str, anna: Scope, clock: FixedClock
) -> None:
    with Memory.open(store_url, embedder=FakeEmbedder(), worker=False, clock=clock) as memory:
        look_up(Session(memory, "tuesday", scope=anna), 213.0)
        clock.advance(seconds=3 * DAY)
        before = memory.tools.seen("get_stock_price", TSLA, scope=anna)
        assert before.decision == CallAgain("the result is from 3 days ago, and prices hold for 5 minutes")
        look_up(Session(memory, "friday", scope=anna), 218.40)
        memory.drain()

        series = memory.tools.series("get_stock_price", TSLA, scope=anna, path="price")
        assert [(point.value, point.change) for point in series.points] == [(213.0, None), (218.4, 5.4)]
        assert [point.at.iso()[:10] for point in series.points if point.at] == ["2026-03-10", "2026-03-13"]
        assert series.text() == "3 days ago 213, now 218.4 (+5.4, +2.5%)"

        found = memory.recall(ASKED, scope=anna, kinds=["tool_call"], min_relevance=0)
        old, new = sorted(found, key=lambda hit: hit.record.recorded_at)
        assert old.newer is not None
        assert (old.newer.id, new.newer) == (new.id, None)

        shown = memory.context(ASKED, scope=anna, session="later").text()
        assert "$213.00" in shown
        assert "$218.40" in shown
        assert "this result is from 3 days ago (213); a moment ago it was 218.4" in shown
        assert "2026-03-10" in shown
        assert "2026-03-13" in shown
        assert isinstance(memory.tools.seen("get_stock_price", TSLA, scope=anna).decision, Reuse)
