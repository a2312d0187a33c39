"""Claims about the past are found, with who is said to have said what; near misses are not."""

import pytest

from retentia.diagnose.claims import Author, find_claims
from retentia.evals.claims import load_claims, outcomes, score_claims
from retentia.testing import STRANGE_TEXTS


def found(text: str) -> list[tuple[Author, str]]:
    return [(claim.by, claim.content) for claim in find_claims(text)]


def test_the_labelled_set_is_large_and_in_three_languages() -> None:
    sentences = load_claims()
    assert len(sentences) >= 120
    assert {one.language for one in sentences} == {"en", "de", "uk"}
    assert sum(not one.claims for one in sentences) >= 60


@pytest.mark.parametrize("language", ["en", "de", "uk", "all"])
def test_hardly_a_sentence_of_the_labelled_set_is_read_wrongly(language: str) -> None:
    score = score_claims(load_claims())[language]
    assert score.precision >= 0.95
    assert score.recall >= 0.95


def test_a_claim_with_another_author_or_content_counts_as_wrong_and_missed() -> None:
    sentence = next(one for one in load_claims() if one.text.startswith("As I mentioned, the"))
    (by, start, end), *_ = sentence.claims
    other = type(sentence)(sentence.language, sentence.text, ((Author.USER, start, end),))
    assert [outcome for _, outcome in outcomes(sentence)] == ["right"]
    assert [outcome for _, outcome in outcomes(other)] == ["wrong", "missed"]
    short = type(sentence)(sentence.language, sentence.text, ((by, end - 4, end),))
    assert [outcome for _, outcome in outcomes(short)] == ["wrong", "missed"]


def test_the_content_of_a_claim_is_a_stretch_of_the_text() -> None:
    text = "Well. As you mentioned, **you paid $2,499** for it."
    (claim,) = find_claims(text)
    assert text[claim.start : claim.end].strip() == "As you mentioned, **you paid $2,499** for it."
    assert text[claim.content_start : claim.content_end].strip("*") == "you paid $2,499** for it"
    assert claim.content == "you paid $2,499 for it"
    assert claim.cue == "As you mentioned"


def test_an_aside_claims_what_stands_around_it() -> None:
    assert found("The price, as I mentioned, is $500.") == [(Author.AGENT, "The price, , is $500")]
    assert found("Finding balance like you mentioned helps us a lot.") == [(Author.USER, "Finding balance")]


def test_a_bare_claim_has_no_content() -> None:
    (claim,) = find_claims("As I mentioned.")
    assert claim.is_bare
    assert claim.content_start == claim.content_end
    (claim,) = find_claims("As you said, let me look it up.")
    assert claim.is_bare


def test_code_quotes_and_drafted_letters_are_nobodys_claims() -> None:
    code = "```python\n# As I mentioned, the cache is slow\nprint('you told me that x is 5')\n```\n"
    letter = "Here is a draft:\n\nDear Ms Miller,\n\nAs I mentioned, the fee is 20 euros.\n"
    assert found(code + "> You said that it is late.\n" + 'She wrote "you told me that it rains".\n' + letter) == []
    assert found(code + "As I mentioned, the cache is slow.") == [(Author.AGENT, "the cache is slow")]
    rule = "Dear Ms Miller,\nAs I said, no.\n---\nAs you said, the fee is 20 euros."
    assert found(rule) == [(Author.USER, "the fee is 20 euros")]


def test_languages_may_be_mixed_in_one_text() -> None:
    text = "As I mentioned, the fee is 20. Du hattest gesagt, dass du Tee magst. Ви казали, що не їсте м'яса."
    assert found(text) == [
        (Author.AGENT, "the fee is 20"),
        (Author.USER, "du Tee magst"),
        (Author.USER, "не їсте м'яса"),
    ]
    assert [claim.language for claim in find_claims(text)] == ["en", "de", "uk"]


def test_a_deed_is_told_from_a_statement() -> None:
    (deed,) = find_claims("I've already checked the invoice of May.")
    (said,) = find_claims("As I said, the invoice is of May.")
    assert (deed.deed, said.deed) == (True, False)


@pytest.mark.parametrize("text", STRANGE_TEXTS.values(), ids=STRANGE_TEXTS.keys())
def test_no_text_is_too_strange_to_be_looked_at(text: str) -> None:
    assert found(text) == []
    assert (Author.AGENT, "the fee is 20 euros") in found(f"{text}\n\nAs I mentioned, the fee is 20 euros.\n\n{text}")


@pytest.mark.parametrize(
    "hay",
    [
        "The quick brown fox said that it already jumps over as many dogs as it likes. " * 13_000,
        "as I mentioned " * 70_000,
        ("as I mentioned " * 130 + ".\n") * 250,
        "if as I said " * 70_000,
        "the a b c d you told me about " * 33_000,
        '"' * 500_000 + "`" * 500_000,
        "„“»«'" * 200_000,
        "!" * 999_999 + "x",
        "```\n" * 250_000,
        "ich habe mir ja doch schon " * 37_000,
    ],
    ids=["prose", "cues", "lines", "conditions", "phrases", "quotes", "signs", "marks", "fences", "adverbs"],
)
def test_a_megabyte_is_read_to_its_end(hay: str) -> None:
    assert found(f"{hay}\n```\n```\n\nAs I mentioned, the fee is 20 euros.")[-1] == (
        Author.AGENT,
        "the fee is 20 euros",
    )
