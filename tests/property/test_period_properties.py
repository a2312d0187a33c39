from hypothesis import given
from hypothesis import strategies as st

from retentia.languages.periods import find_periods
from retentia.model.time import Moment
from retentia.read.when import split_time

_TALK = """
last next this since by bis seit до з am im in on between and und і 3 5. 31 2026 2024-02-30 May Mai травня Monday
Freitag понеділка week Woche тижня ago vor тому yesterday gestern вчора 19:00 (UTC-5) Uhr , . ( ’ –
"""
_WORDS = st.sampled_from([*_TALK.split(), "\n"])
_TEXTS = st.lists(_WORDS, max_size=14).map(" ".join) | st.text(max_size=80)
_INSTANTS = st.integers(-62_000_000_000_000_000, 253_000_000_000_000_000)
_ZONES = st.sampled_from(["UTC", "Europe/Kyiv", "America/New_York", "Pacific/Apia", "+05:45"])


@given(_TEXTS, _INSTANTS, _ZONES, st.sampled_from(["past", "future"]))
def test_periods_of_any_text_at_any_time_are_in_order_bounded_and_quoted(
    text: str, instant: int, zone: str, toward: str
) -> None:
    place = 0
    for one in find_periods(text, now=Moment.at(instant, zone), toward=toward):  # type: ignore[arg-type]
        assert place <= one.start < one.end <= len(text)
        assert one.words == text[one.start : one.end]
        assert one.since is not None or one.until is not None
        if one.since is not None and one.until is not None:
            assert one.since < one.until
        place = one.end


@given(_TEXTS, _INSTANTS)
def test_a_parted_question_only_loses_words(text: str, instant: int) -> None:
    left, since, until = split_time(text, Moment.at(instant))
    assert "".join(left.split()) == "".join(text.split()) or len(left) < len(text)
    assert since is None or until is None or since < until
