"""What holds of every text and every log that is looked through."""

from hypothesis import given
from hypothesis import strategies as st

from retentia.diagnose.canonical import canonical
from retentia.diagnose.claims import find_claims
from retentia.diagnose.log import Called, Said
from retentia.diagnose.own_words import own_words, sentences
from retentia.diagnose.repeated_calls import repeated_calls
from retentia.diagnose.support import stretches, support, wanted

TEXTS = st.text(max_size=200)
CUES = st.sampled_from(
    [
        "As I mentioned, ",
        "you told me that ",
        "Wie gesagt, ",
        "du hattest gesagt, dass ",
        "ви казали, що ",
        "як я казав, ",
    ]
)
PIECES = st.one_of(TEXTS, CUES, st.sampled_from(["```", "`", '"', "„", "> ", "\n", ". ", "? ", "Dear ", "---\n"]))
MIXED = st.lists(PIECES, max_size=12).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(MIXED)
def test_claims_lie_in_their_text_in_order_and_say_something_or_are_bare(text: str) -> None:
    claims = find_claims(text)
    assert [claim.start for claim in claims] == sorted(claim.start for claim in claims)
    for claim in claims:
        assert 0 <= claim.start <= claim.content_start <= claim.content_end <= claim.end <= len(text)
        assert claim.is_bare == (not wanted(claim.content).terms)


@given(MIXED)
def test_blanking_out_keeps_every_place_of_a_text(text: str) -> None:
    assert len(own_words(text)) == len(text)
    for sentence in sentences(text):
        assert len(sentence.own) == sentence.end - sentence.start


@given(MIXED)
def test_what_stands_in_code_is_never_claimed(text: str) -> None:
    assert find_claims(f"```\n{text.replace('`', '')}\n```") == []


@given(TEXTS, TEXTS)
def test_support_is_a_share_and_a_text_supports_itself(claim: str, text: str) -> None:
    needs = wanted(claim)
    assert 0.0 <= support(needs, stretches(text)).share <= 1.0
    if needs.terms:
        whole = support(needs, stretches(claim))
        assert (whole.share, whole.has_numbers) == (1.0, True)


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4))
def test_the_order_of_arguments_makes_no_other_call(arguments: dict[str, object]) -> None:
    turned = dict(reversed(list(arguments.items())))
    assert canonical("f", arguments) == canonical("f", turned)  # type: ignore[arg-type]


@given(st.lists(st.integers(0, 30), unique=True, max_size=10))
def test_calls_that_differ_are_never_repetitions(numbers: list[int]) -> None:
    steps = [Called(id=str(one), name="read", arguments={"n": one}, result="x") for one in numbers]
    assert list(repeated_calls("s", steps, count_tokens=len)) == []


@given(st.lists(st.integers(0, 3), max_size=12))
def test_without_a_reason_every_call_after_the_first_is_a_repetition(numbers: list[int]) -> None:
    steps = [Called(id=str(place), name="read", arguments={"n": one}, result="x") for place, one in enumerate(numbers)]
    found = list(repeated_calls("s", [*steps, Said(id="u", role="user", text="Thanks.")], count_tokens=len))
    assert len(found) == len(numbers) - len(set(numbers))
