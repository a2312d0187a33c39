from hypothesis import given
from hypothesis import strategies as st

from retentia.security.personal import find_personal, mask_personal

SURE = (
    "anna.miller@example.org",
    "DE89 3704 0044 0532 0130 00",
    "+49 170 1234567",
    "86095742719",
    "203.0.113.42",
)
PIECES = st.sampled_from(
    (
        *(
            "my name is",
            "ich heiße",
            "мене звати",
            "born",
            "geboren am",
            "tel:",
            "ІПН",
            "SSN",
            "вул.",
            "Str.",
            "Street",
        ),
        *(
            " ",
            ": ",
            "\n",
            ", ",
            ".",
            "@",
            "+",
            "-",
            "/",
            "(",
            ")",
            "0",
            "12",
            "1990",
            "Anna",
            "Müller",
            "Олена",
            "diabetes",
        ),
        *SURE,
    )
)
MIXTURES = st.lists(PIECES | st.text(max_size=6), max_size=14).map("".join)


@given(MIXTURES)
def test_findings_lie_in_the_text_in_order_and_do_not_overlap(text: str) -> None:
    end = 0
    for found in find_personal(text):
        assert end <= found.start < found.end <= len(text)
        assert 0 < found.confidence <= 1
        end = found.end


@given(MIXTURES)
def test_a_masked_text_is_the_text_with_marks_for_findings(text: str) -> None:
    findings = find_personal(text)
    rebuilt, end = [], 0
    for found in findings:
        rebuilt += [text[end : found.start], f"[{found.kind.value}]"]
        end = found.end
    assert "".join([*rebuilt, text[end:]]) == mask_personal(text, findings)


@given(MIXTURES, st.sampled_from(SURE), MIXTURES)
def test_what_proves_itself_never_survives_masking(before: str, sure: str, after: str) -> None:
    text = f"{before} \n\n{sure}\n\n {after}"
    start = len(before) + 3
    assert any(one.start <= start and start + len(sure) <= one.end for one in find_personal(text))


@given(st.text())
def test_any_text_can_be_searched_and_the_answer_is_always_the_same(text: str) -> None:
    assert find_personal(text) == find_personal(text)


@given(st.text(st.characters(categories=("Lu", "Ll", "Zs"), exclude_characters="@"), max_size=80))
def test_a_text_without_digits_and_marks_holds_at_most_words(text: str) -> None:
    assert {one.kind.value for one in find_personal(text)} <= {"health", "name"}
