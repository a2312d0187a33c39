import re

import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from retentia.index.english import english_stem
from retentia.index.fold import fold
from retentia.index.stems import cyrillic_stem, latin_stem
from retentia.index.tokenizer import analyse, analyse_query, split_passages

texts = st.text(alphabet=st.characters(), max_size=400)
words = st.text("abcdefghijklmnopqrstuvwxz", min_size=1, max_size=14)  # "yy" is in no English word
endings = st.sampled_from(
    ["", "s", "es", "ed", "ing", "ly", "ies", "ation", "ness", "fulli", "ogist", "ative", "eed", "ll"]
)
cyrillic = st.text("абвгдеєжзиіїйклмнопрстуфхцчшщьюяыэ", min_size=1, max_size=14)
any_string = st.text(alphabet=st.characters(exclude_categories=[]), max_size=300)  # lone surrogates too

porter = snowballstemmer.stemmer("english")


@given(any_string)
def test_any_string_is_analysed_into_whole_ids(text: str) -> None:
    found = analyse(text)
    assert len(found.stems) % 4 == 0
    assert len(found.grams) % 4 == 0


@given(any_string)
def test_a_query_asks_for_exactly_what_a_passage_of_the_same_text_carries(text: str) -> None:
    asked, found = analyse_query(text), analyse(text)
    assert asked.stems.tobytes() == found.stems
    assert asked.grams.tobytes() == found.grams


@given(texts, texts)
def test_terms_of_joined_texts_are_the_terms_of_their_parts(one: str, other: str) -> None:
    joined = analyse(f"{one}\n{other}")
    assert joined.stems == analyse(one).stems + analyse(other).stems
    assert joined.grams == analyse(one).grams + analyse(other).grams


@given(st.text(alphabet=st.characters(categories=["Ll", "Lu", "Nd", "Zs"], max_codepoint=0x4FF), max_size=60))
def test_case_never_matters_where_it_can_be_undone(text: str) -> None:
    plain = re.sub(r"[a-z](?=[A-Z])", "", text)  # camel case parts words, so case matters there
    if plain.upper().lower() == plain.lower() and plain.lower().upper() == plain.upper():
        assert analyse(plain.lower()).stems == analyse(plain.upper()).stems


@given(any_string)
def test_folding_twice_changes_nothing_more(text: str) -> None:
    once = fold(text)
    assert fold(once).split() == once.split()


@given(words, endings)
def test_english_stems_agree_with_the_reference_implementation(word: str, ending: str) -> None:
    assert english_stem(word + ending) == porter.stemWord(word + ending)


@given(words)
def test_a_latin_stem_is_never_empty(word: str) -> None:
    assert latin_stem(word)


@given(cyrillic)
def test_a_cyrillic_stem_is_never_empty_nor_longer_than_its_word(word: str) -> None:
    assert 1 <= len(cyrillic_stem(word)) <= len(word)


@given(st.text(max_size=2_000), st.integers(0, 700), st.integers(40, 400))
def test_passages_are_in_order_apart_within_size_and_hold_every_visible_character(
    text: str, whole_up_to: int, target: int
) -> None:
    spans = split_passages(text, whole_up_to=whole_up_to, target=target)
    edges = [edge for span in spans for edge in span]
    assert edges == sorted(edges)
    assert "".join("".join(text[start:end].split()) for start, end in spans) == "".join(text.split())
    assert all(text[start:end].strip() == text[start:end] != "" for start, end in spans)
    assert all(end - start <= max(whole_up_to, target) for start, end in spans)
