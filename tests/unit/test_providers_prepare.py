import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.providers.prepare import Recipe, clean, cut

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("be\0fore", "be fore"),
        ("a \ud83d b", "a \ufffd b"),
        ("\ud83d\ude00!", "😀!"),
        ("", ""),
    ],
)
def test_text_is_made_fit_for_any_model_and_otherwise_left_alone(text: str, expected: str) -> None:
    assert clean(text) == expected


@given(ANY_TEXT)
def test_clean_text_is_valid_unicode_without_nul_and_stays_as_it_is(text: str) -> None:
    cleaned = clean(text)
    assert "\0" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert clean(cleaned) == cleaned


@given(st.text("ab ", max_size=300), st.integers(1, 50), st.integers(1, 9))
def test_pieces_respect_their_limits_and_come_from_the_text_in_order(text: str, size: int, limit: int) -> None:
    pieces = cut(text, size=size, limit=limit)
    assert 1 <= len(pieces) <= limit
    assert all(len(piece) <= size for piece in pieces)
    assert text.startswith(pieces[0])
    assert limit == 1 or text.endswith(pieces[-1])


@given(st.integers(0, 400), st.integers(1, 50))
def test_nothing_is_lost_of_a_text_that_fits_into_its_pieces(length: int, size: int) -> None:
    text = "".join(chr(0x4E00 + place) for place in range(length))
    pieces = cut(text, size=size, limit=400)
    assert set("".join(pieces)) == set(text)
    assert len(pieces) == max(1, -(-length // size))


def test_a_long_text_is_sampled_from_beginning_to_end() -> None:
    pieces = cut("".join(f"{number:04}" for number in range(2500)), size=40, limit=3)
    assert [piece[:4] for piece in pieces] == ["0000", "1245", "2490"]


def test_each_piece_gets_the_prefix_of_its_side() -> None:
    recipe = Recipe(piece_characters=3, max_pieces=2, passage_prefix="passage: ", query_prefix="query: ")
    assert recipe.passage("abcdef") == ["passage: abc", "passage: def"]
    assert recipe.query("abc") == ["query: abc"]


def test_text_is_brought_into_its_normal_form_before_it_is_cut() -> None:
    recipe = Recipe(piece_characters=20, max_pieces=2, normal_form="NFKC")
    assert recipe.passage("i\u0308 ½ \ud800") == ["ï 1⁄2 \ufffd"]
    assert all(len(piece) <= 20 for piece in recipe.query("\ufdfa" * 50))


def test_whatever_changes_the_vectors_is_in_the_recipes_name() -> None:
    recipes = [
        Recipe(),
        Recipe(piece_characters=1000),
        Recipe(max_pieces=3),
        Recipe(passage_prefix="passage: "),
        Recipe(query_prefix="passage: "),
        Recipe(normal_form="NFKC"),
        Recipe(note='{"dimensions": 256}'),
    ]
    assert len({str(recipe) for recipe in recipes}) == len(recipes)
    assert str(Recipe()) == "8x2000"
