from retentia.model.ids import RecordId
from retentia.working.told import Stretch, is_told

ONE, OTHER = RecordId("1" * 32), RecordId("2" * 32)


def stretch(start: int, end: int, of: RecordId = ONE) -> Stretch:
    return Stretch(of, start, end)


def test_a_message_is_told_when_its_sentences_are_all_told() -> None:
    assert is_told([stretch(0, 41)], [stretch(0, 20), stretch(21, 40)])


def test_a_message_that_says_more_is_not_told() -> None:
    assert not is_told([stretch(0, 60)], [stretch(0, 20), stretch(21, 40)])
    assert not is_told([stretch(0, 60)], [stretch(20, 60)])
    assert not is_told([stretch(0, 60)], [stretch(0, 20), stretch(30, 60)])


def test_what_another_record_says_at_the_same_place_tells_nothing() -> None:
    assert not is_told([stretch(0, 20)], [stretch(0, 20, OTHER)])


def test_one_of_several_places_that_say_the_same_is_enough() -> None:
    assert is_told([stretch(0, 20), stretch(5, 30, OTHER)], [stretch(0, 40, OTHER)])


def test_what_quotes_nothing_is_never_told() -> None:
    assert not is_told([], [stretch(0, 20)])
    assert not is_told([stretch(0, 0)], [stretch(0, 20)])
