"""What is sealed comes back in its own place, and in no other."""

from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retentia.errors import InvalidInput
from retentia.store.sealed import SEAL_BYTES, is_blank
from retentia.store.sealing import DoesNotOpen, MasterKey, ScopeKey, place_of_key

Place: TypeAlias = tuple[str, int, bytes, tuple[bytes, int]]
MASTER = MasterKey("5e" * 32, b"salt" * 4)
RAW = bytes(range(32))
VALUES = st.text(st.characters(codec=None)) | st.binary()
ROWS = st.tuples(st.binary(min_size=16, max_size=16), st.integers(-(2**63), 2**63 - 1))
PLACES = st.tuples(st.sampled_from(["acme", "acm"]), st.integers(0, 3), st.sampled_from([b"a.b", b"a.c"]), ROWS)


def key_of(tenant: str, scope_id: int, raw: bytes = RAW) -> ScopeKey:
    return ScopeKey(raw, tenant, scope_id)


@given(VALUES, PLACES, PLACES)
def test_a_value_opens_in_its_own_place_and_in_no_other(value: str | bytes, place: Place, other: Place) -> None:
    tenant, scope_id, column, row = place
    sealed = key_of(tenant, scope_id).seal(value, column, row)
    assert key_of(tenant, scope_id).open(sealed, column, row) == value
    if other != place:
        with pytest.raises(DoesNotOpen):
            key_of(other[0], other[1]).open(sealed, other[2], other[3])


@given(VALUES, ROWS, st.data())
def test_no_byte_can_be_changed_cut_off_or_added(
    value: str | bytes, row: tuple[bytes, int], data: st.DataObject
) -> None:
    key = key_of("acme", 1)
    sealed = key.seal(value, b"a.b", row)
    at = data.draw(st.integers(0, len(sealed) - 1))
    changed: list[str | bytes]
    if isinstance(sealed, str):
        swapped = "B" if sealed[at] != "B" else "C"
        changed = [sealed[:at], sealed + "A", "", sealed[: at and at - 1] + "%" + sealed[at:]]
        changed += [sealed[:at] + swapped + sealed[at + 1 :]] if at < len(sealed) - 1 else []  # the last has spare bits
    else:
        changed = [sealed[:at], sealed + b"A", sealed[:at] + bytes([sealed[at] ^ 1]) + sealed[at + 1 :]]
    for one in changed:
        with pytest.raises(DoesNotOpen):
            key.open(one, b"a.b", row)


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_the_length_of_a_text_can_be_told_from_what_is_stored(text: str) -> None:
    sealed = key_of("acme", 1).seal(text, b"a.b", (b"i" * 16,))
    assert len(sealed) * 3 // 4 - SEAL_BYTES == len(text.encode())
    assert not is_blank(sealed)


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)), st.binary(min_size=16, max_size=16))
def test_names_and_digests_are_alike_within_a_scope_only(name: str, other: str, digest: bytes) -> None:
    key, same, elsewhere = key_of("acme", 1), key_of("acme", 1), key_of("acme", 2, bytes(32))
    assert key.seal_name(name, b"a.b") == same.seal_name(name, b"a.b")
    assert (key.seal_name(name, b"a.b") == key.seal_name(other, b"a.b")) == (name == other)
    assert key.seal_name(name, b"a.b") not in {elsewhere.seal_name(name, b"a.b"), key.seal_name(name, b"a.c")}
    assert key.open_name(key.seal_name(name, b"a.b"), b"a.b") == name
    with pytest.raises(DoesNotOpen):
        key.open_name(key.seal_name(name, b"a.b"), b"a.c")
    assert key.open_mark(key.seal_mark(digest)) == digest
    assert key.seal_mark(digest) == same.seal_mark(digest) != elsewhere.seal_mark(digest)


@given(st.binary(min_size=16, max_size=16), st.integers(0, 2**62), st.integers(0, 2**62))
def test_a_wrapped_key_belongs_to_its_row(key_id: bytes, scope_id: int, other: int) -> None:
    wrapped = MASTER.wrap(RAW, place_of_key("acme", scope_id, key_id))
    assert MASTER.unwrap(wrapped, place_of_key("acme", scope_id, key_id)) == RAW
    if other != scope_id:
        with pytest.raises(DoesNotOpen):
            MASTER.unwrap(wrapped, place_of_key("acme", other, key_id))


def test_a_master_key_proves_itself_and_no_other_does() -> None:
    phrase = MasterKey("a passphrase", b"salt" * 4)
    assert phrase.proves(phrase.proof())
    assert not phrase.proves(MASTER.proof())
    assert not MasterKey("5e" * 32, b"SALT" * 4).proves(MASTER.proof())
    with pytest.raises(InvalidInput, match="empty"):
        MasterKey("", b"salt" * 4)
