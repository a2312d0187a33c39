"""Whatever stretch of a record support is shown, no personal data that was found is in it, and nothing else is lost."""

import json

from hypothesis import given
from hypothesis import strategies as st

from retentia import Scope
from retentia.masked import masked, masked_hit, masked_record
from retentia.model.provenance import Trust
from retentia.model.record import Kind, Record
from retentia.read.excerpt import WHOLE_UP_TO, excerpt
from retentia.read.query import Hit, Span
from retentia.security.personal import find_personal
from retentia.working.tokens import EstimatingCounter

PERSONAL = ("anna@example.org", "+49 170 1234567", "DE89 3704 0044 0532 0130 00", "192.168.17.4")
FILLER = "The roses grow well and the garden needs water. " * 15
words = st.sampled_from([*PERSONAL, "tea", "Größe", "Київ", "10", "\n", FILLER])
texts = st.lists(words, min_size=1, max_size=12).map(" ; ".join)
fields = st.recursive(
    texts, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3), max_leaves=6
)


def record(text: str, metadata: object = None) -> Record:
    return Record(
        id="01890a5d-ac96-774b-bcce-b302099a8057",  # type: ignore[arg-type]
        kind=Kind.NOTE,
        scope=Scope("acme", "anna"),
        text=text,
        occurred=None,
        recorded_at=0,
        trust=Trust.PERSON,
        metadata={"given": metadata},  # type: ignore[dict-item]
    )


@given(texts, st.data())
def test_a_span_shows_the_same_stretch_with_whole_marks(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    span = Span(start, data.draw(st.integers(start + 1, len(text))))
    shown = text if len(text) <= WHOLE_UP_TO else excerpt(text, [span])
    hit = Hit(record=record(text), score=1.0, text=shown, spans=(span,), tokens=1, signals={}, reason="")
    safe = masked_hit(hit, EstimatingCounter())
    marks = {finding.start: (finding.end, f"[{finding.kind.value}]") for finding in find_personal(text)}
    expected, at = "", 0
    while at < len(text):
        end, mark = marks.get(at, (at + 1, text[at]))
        expected += mark if end > span.start and at < span.end else ""
        at = end
    assert safe.record.text[safe.spans[0].start : safe.spans[0].end] == expected
    assert expected.strip() in safe.text
    assert [one for one in PERSONAL if one in safe.text] == []
    assert safe.record.text == masked(text)


@given(fields)
def test_nothing_personal_is_left_beside_the_text(given: object) -> None:
    safe = json.dumps(dict(masked_record(record("tea", given)).metadata), ensure_ascii=False)
    assert [one for one in PERSONAL if one in safe] == []


@given(st.recursive(st.none() | st.booleans() | st.integers(0, 99) | st.just("tea"), st.lists, max_leaves=5))
def test_what_is_not_personal_stays_as_it_is(given: object) -> None:
    assert masked_record(record("tea", given)) == record("tea", given)


def test_the_name_of_a_field_tells_what_its_value_is() -> None:
    safe = masked_record(record("tea", {"phone": "0151 23456789", "mobile": [4915123456789], "order": "tea"}))
    assert safe.metadata == {"given": {"phone": "[phone]", "mobile": ["[phone]"], "order": "tea"}}


def test_an_excerpt_that_ends_within_a_number_shows_none_of_it() -> None:
    text = f"{FILLER}{PERSONAL[1]} {FILLER}"
    for end in range(len(FILLER) + 1, len(FILLER) + len(PERSONAL[1])):
        span = Span(len(FILLER) - 20, end)
        cut = Hit(
            record=record(text), score=1.0, text=excerpt(text, [span]), spans=(span,), tokens=1, signals={}, reason=""
        )
        assert masked_hit(cut, EstimatingCounter()).text == "… garden needs water. [phone] …"
