import pytest

from retentia.errors import BudgetTooSmall, InvalidInput
from retentia.working.budget import SHARES, Dropped, Fitted, Item, Part, PartName, Share, fill, fit, parse_shares
from retentia.working.tokens import ExactCounter

WORDS = ExactCounter(str.split, label="words")


def part(name: PartName, *tokens: int, frame: str = "", contiguous: bool = False) -> Part:
    items = tuple(Item(f"{name}-{place}", tokens=size) for place, size in enumerate(tokens))
    return Part(name, items, frame=frame, contiguous=contiguous)


def kept(fitted: Fitted, name: PartName) -> list[str]:
    return [item.id for item in fitted.kept(name)]


def test_the_table_has_the_parts_in_the_order_of_the_context() -> None:
    names = [share.part for share in SHARES]
    assert names == ["role", "summary", "recalled", "profile", "pinned", "recent", "current"]
    assert sum(share.share for share in SHARES) == pytest.approx(1)
    assert {share.part for share in SHARES if not share.gives_way} == {"role", "current"}


def test_parts_come_back_in_the_order_of_the_table_whatever_order_they_came_in() -> None:
    fitted = fit([part("current", 5), part("recent", 5), part("role", 5), part("summary", 5)], 100, WORDS)
    assert [part.name for part in fitted.parts] == ["role", "summary", "recent", "current"]
    assert (fitted.tokens, fitted.dropped) == (20, ())


def test_the_role_and_the_current_request_are_never_dropped() -> None:
    fitted = fit([part("role", 40), part("recent", 10, 10), part("current", 50)], 90, WORDS)
    assert (kept(fitted, "role"), kept(fitted, "recent"), kept(fitted, "current")) == (["role-0"], [], ["current-0"])
    with pytest.raises(BudgetTooSmall, match=r"89 tokens is 1 short .*role 40, current 50"):
        fit([part("role", 40), part("recent", 10), part("current", 50)], 89, WORDS)


def test_each_part_has_its_share_when_all_want_more() -> None:
    greedy = [part(share.part, *[1] * 200) for share in SHARES if share.gives_way]
    fitted = fit(greedy, 100, WORDS)
    assert {part.name: part.tokens for part in fitted.parts} == {
        "summary": 20,
        "recalled": 25,
        "profile": 10,
        "pinned": 10,
        "recent": 35,
    }


def test_what_a_part_does_not_use_flows_to_those_that_give_way_last() -> None:
    fitted = fit([part("recalled", *[1] * 5), part("pinned", *[1] * 30), part("recent", *[1] * 200)], 100, WORDS)
    assert {part.name: part.tokens for part in fitted.parts} == {"recalled": 5, "pinned": 30, "recent": 65}


def test_the_first_items_of_a_part_are_kept_and_the_others_named_with_the_reason() -> None:
    fitted = fit([part("recalled", 30, 50, 20)], 60, WORDS)
    assert kept(fitted, "recalled") == ["recalled-0", "recalled-2"]
    assert fitted.dropped == (Dropped("recalled-1", "recalled", "over budget"),)


def test_a_contiguous_part_ends_where_an_item_does_not_fit() -> None:
    assert fill([20, 20, 30, 10], 60, contiguous=True) == (0, 1)
    assert fill([20, 20, 30, 10], 60) == (0, 1, 3)


def test_in_a_contiguous_part_one_giant_item_only_makes_a_hole() -> None:
    assert fill([10, 500, 10], 60, contiguous=True) == (0, 2)


def test_a_frame_is_paid_once_and_only_where_something_is_kept() -> None:
    fitted = fit([part("profile", 5, 5, frame="about the user")], 13, WORDS)
    assert (fitted.tokens, kept(fitted, "profile")) == (13, ["profile-0", "profile-1"])
    assert fit([part("profile", 5, frame="about the user")], 7, WORDS).tokens == 0


def test_items_without_a_size_are_counted() -> None:
    fitted = fit([Part("recalled", (Item("a", "one two three"), Item("b", "one")))], 3, WORDS)
    assert (kept(fitted, "recalled"), fitted.tokens) == (["a"], 3)


def test_the_table_can_be_another_one() -> None:
    table = (Share("recent", 1.0, 1), Share("summary", 0.0, 2))
    fitted = fit([part("summary", *[1] * 50), part("recent", *[1] * 200)], 100, WORDS, table)
    assert [(part.name, part.tokens) for part in fitted.parts] == [("recent", 100), ("summary", 0)]


@pytest.mark.parametrize(
    ("parts", "shares"),
    [
        ([part("recent", 1), part("recent", 2)], SHARES),
        ([part("recent", -1)], SHARES),
        ([part("recent", 1)], (Share("summary", 1.0, 1),)),
        ([part("recent", 1)], (Share("recent", -1.0, 1),)),
    ],
)
def test_what_cannot_be_budgeted_is_refused_by_name(parts: list[Part], shares: tuple[Share, ...]) -> None:
    with pytest.raises(InvalidInput):
        fit(parts, 100, WORDS, shares)


def test_rows_of_the_table_can_be_changed_and_the_others_stay() -> None:
    table = {share.part: share for share in parse_shares({"recalled": 0.4, "profile": {"gives_way": 6}})}
    assert table["recalled"] == Share("recalled", 0.4, 1)
    assert table["profile"] == Share("profile", 0.10, 6)
    assert table["recent"] in SHARES
    assert list(table) == [share.part for share in SHARES]


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": 0.5},
        {"memories": 0.5},
        {"recalled": -1},
        {"recalled": "much"},
        {"recalled": True},
        {"recalled": float("nan")},
        {"recalled": {}},
        {"recalled": {"part": 1}},
        {"recalled": {"gives_way": 0}},
    ],
)
def test_a_table_that_means_nothing_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        parse_shares(wrong)
