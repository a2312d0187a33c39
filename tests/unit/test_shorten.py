import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.working.records import RecalledItem
from retentia.working.shorten import CUT, cut, shortened
from retentia.working.tokens import EstimatingCounter

COUNTER = EstimatingCounter()
TEXT = "We chose ClickHouse. The reports were slow before. Jonas writes the script until Friday, and nobody else helps."


def test_what_fits_stays_as_it_is() -> None:
    assert cut(TEXT, 100, COUNTER) == TEXT


def test_a_text_is_cut_at_the_end_of_a_sentence_where_one_is_near() -> None:
    assert cut(TEXT, 21, COUNTER) == "We chose ClickHouse. The reports were slow before." + CUT
    assert cut(TEXT, 24, COUNTER).endswith(CUT)
    assert cut("word " * 200, 20, COUNTER).startswith("word word word")


@given(st.text(max_size=400), st.integers(0, 60))
def test_a_cut_text_fits_and_is_the_beginning(text: str, most: int) -> None:
    found = cut(text, most, COUNTER)
    assert found == "" or COUNTER.count(found) <= most
    assert text.startswith(found.removesuffix(CUT))


@pytest.mark.parametrize("hostile", ["a. " * 300_000, "x" * 1_000_000, "\n" * 1_000_000, "слово. " * 150_000])
def test_a_megabyte_is_cut_without_reading_it_all(hostile: str) -> None:
    assert COUNTER.count(cut(hostile, 300, COUNTER)) <= 300


def test_records_are_shortened_to_a_room_the_newest_losing_least() -> None:
    records = [RecalledItem(id=str(number), kind="summary", text=TEXT * 3) for number in range(3)]
    found = shortened(records, 150, COUNTER)
    assert [one.id for one in found] == ["0", "1", "2"]
    assert sum(COUNTER.count(one.text) for one in found) <= 150
    assert shortened(records, 4000, COUNTER) == records


def test_a_record_that_knows_how_says_less_in_fewer_words() -> None:
    def fewer(words: int) -> str:
        return " ".join(["short"] * words)

    record = RecalledItem(id="s", kind="summary", text=TEXT * 5, shorten=fewer)
    (found,) = shortened([record], 80, COUNTER)
    assert set(found.text.split()) == {"short"}
