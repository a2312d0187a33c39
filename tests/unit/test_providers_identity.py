import math
import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.errors import IndexStale
from retentia.providers import EmbedderIdentity, canary

IDENTITY = EmbedderIdentity("use", "3", 512, "c0ffee", "8x2000")


def unit_rows(seed: int, dimension: int = 384) -> list[list[float]]:
    chance = random.Random(seed)
    rows = [[chance.gauss(0, 1) for _ in range(dimension)] for _ in canary.SENTENCES]
    return [[value / math.hypot(*row) for value in row] for row in rows]


def test_an_identity_is_written_and_read_back_the_same() -> None:
    assert EmbedderIdentity.from_json(IDENTITY.to_json()) == IDENTITY
    assert EmbedderIdentity.from_json('{"name": "use", "version": "3", "dimension": 512}').checksum == ""


@pytest.mark.parametrize(
    "text", ["", "use", "[]", "null", "{}", '{"name": "use", "version": "3", "dimension": "many"}']
)
def test_an_identity_that_cannot_be_read_says_how_to_make_a_new_one(text: str) -> None:
    with pytest.raises(IndexStale, match="retentia reembed"):
        EmbedderIdentity.from_json(text)


@pytest.mark.parametrize(
    "other",
    [
        replace(IDENTITY, name="e5"),
        replace(IDENTITY, version="4"),
        replace(IDENTITY, dimension=384),
        replace(IDENTITY, checksum="facade"),
        replace(IDENTITY, recipe="8x2000 passage='passage: ' query='query: '"),
    ],
)
def test_vectors_made_in_another_way_do_not_match(other: EmbedderIdentity) -> None:
    assert not IDENTITY.matches(other)
    assert not other.matches(IDENTITY)


def test_a_missing_checksum_vouches_for_any() -> None:
    assert IDENTITY.matches(replace(IDENTITY, checksum=""))
    assert replace(IDENTITY, checksum="").matches(IDENTITY)


@given(st.integers(0, 10_000), st.floats(0.1, 100), st.integers(1, 1024))
def test_a_model_is_recognised_in_spite_of_rounding_and_scale(seed: int, scale: float, dimension: int) -> None:
    rows, chance = unit_rows(seed, dimension), random.Random(seed)
    shaken = [[scale * value * (1 + chance.uniform(-0.01, 0.01)) for value in row] for row in rows]
    assert canary.agree(canary.checksum(rows), canary.checksum(shaken))


@given(st.integers(0, 10_000))
def test_an_exchanged_model_is_noticed(seed: int) -> None:
    assert not canary.agree(canary.checksum(unit_rows(seed)), canary.checksum(unit_rows(seed + 1)))


def test_a_damaged_or_foreign_checksum_agrees_only_with_itself() -> None:
    good = canary.checksum(unit_rows(1))
    for bad in ("canary:", "canary:%%%", "canary:AAAA", "c0ffee", ""):
        assert not canary.agree(good, bad)
        assert canary.agree(bad, bad)
