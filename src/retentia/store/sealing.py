"""Keys of content: one for each scope, kept under the key of the store; and how a value is sealed to its place.

AES-256-GCM with a random nonce. What is bound to a value without being hidden: the tenant, the scope, the table, the
column and the key of its row, so that no value can be put into another's place. What must be looked up (names of
sessions, keys of sources) is sealed with AES-SIV (RFC 5297), alike each time within one scope; the digest of an item,
16 bytes, is one block of AES. The module needs `cryptography` and is loaded only where content has keys.
"""

import hashlib
import hmac
import os
import re
from base64 import b64decode, b64encode
from collections.abc import Sequence
from functools import cached_property

from retentia import errors

try:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV
except ImportError as error:
    raise errors.MissingExtra("encrypted") from error

SALT_BYTES, KEY_BYTES = 16, 32
_NONCE_BYTES, _ROUNDS = 12, 256_000
_FORM = b"\x01"
_RAW = re.compile(r"[0-9a-fA-F]{64}")
_PROOF = b"retentia content keys"


class DoesNotOpen(Exception):
    """What was sealed was changed, lies in another place, or is not sealed; the caller names the place."""


class MasterKey:
    """The key of a store, under which the keys of its scopes are kept. It is never shown.

    `given` is 64 hexadecimal digits, or a passphrase (PBKDF2 with HMAC-SHA512, 256,000 rounds, takes tenths of a
    second). Raises InvalidInput for an empty one.
    """

    def __init__(self, given: str, salt: bytes) -> None:
        if not given:
            raise errors.InvalidInput("the key is empty; give 64 hexadecimal digits, or a passphrase")
        if _RAW.fullmatch(given):
            raw = bytes.fromhex(given)
        else:
            raw = hashlib.pbkdf2_hmac("sha512", given.encode("utf-8"), salt, _ROUNDS, KEY_BYTES)
        # The same digits may be the key of an encrypted backup: no two ciphers share a key.
        self._cipher = AESGCM(hmac.digest(raw, _PROOF + salt, "sha512")[:KEY_BYTES])

    def wrap(self, key: bytes, place: bytes) -> bytes:
        """Return a key as it is stored in a place."""
        nonce = os.urandom(_NONCE_BYTES)
        return nonce + self._cipher.encrypt(nonce, key, place)

    def unwrap(self, wrapped: bytes, place: bytes) -> bytes:
        """Return the key that was wrapped for a place; raise DoesNotOpen."""
        try:
            return self._cipher.decrypt(wrapped[:_NONCE_BYTES], wrapped[_NONCE_BYTES:], place)
        except (InvalidTag, ValueError) as error:
            raise DoesNotOpen from error

    def proof(self) -> bytes:
        """Return what tells this key from a wrong one."""
        return self.wrap(_PROOF, _PROOF)

    def proves(self, proof: bytes) -> bool:
        """Tell whether this key made a proof."""
        try:
            return self.unwrap(proof, _PROOF) == _PROOF
        except DoesNotOpen:
            return False


def place_of_key(tenant: str, scope_id: int, key_id: bytes) -> bytes:
    """Return what binds a wrapped key to its row."""
    return b"\0".join((tenant.encode("utf-8", "surrogatepass"), str(scope_id).encode(), key_id))


class ScopeKey:
    """The key of one scope, for as long as a transaction needs it."""

    def __init__(self, key: bytes, tenant: str, scope_id: int) -> None:
        self._key = key
        self._scope = tenant.encode("utf-8", "surrogatepass") + b"\0" + str(scope_id).encode() + b"\0"
        self._cipher = AESGCM(self._derived(b"content")[:KEY_BYTES])

    def seal(self, value: str | bytes, column: bytes, row: Sequence[object]) -> str | bytes:
        """Return a value as it is stored in a column of a row; text as base64 without padding."""
        nonce = os.urandom(_NONCE_BYTES)
        raw = value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        sealed = _FORM + nonce + self._cipher.encrypt(nonce, raw, self._place(column, row))
        return _text(sealed) if isinstance(value, str) else sealed

    def open(self, value: str | bytes, column: bytes, row: Sequence[object]) -> str | bytes:
        """Return what was sealed in a column of a row; raise DoesNotOpen."""
        sealed = _raw(value) if isinstance(value, str) else value
        if sealed[:1] != _FORM:
            raise DoesNotOpen
        try:
            raw = self._cipher.decrypt(sealed[1:13], sealed[13:], self._place(column, row))
        except (InvalidTag, ValueError) as error:
            raise DoesNotOpen from error
        return raw.decode("utf-8", "surrogatepass") if isinstance(value, str) else raw

    def seal_name(self, name: str, column: bytes) -> str:
        """Return a name as it is stored, and looked up, in a column of this scope."""
        return _text(self._names.encrypt(name.encode("utf-8", "surrogatepass"), [self._scope + column]))

    def open_name(self, sealed: str, column: bytes) -> str:
        """Return the name that was sealed; raise DoesNotOpen."""
        try:
            return self._names.decrypt(_raw(sealed), [self._scope + column]).decode("utf-8", "surrogatepass")
        except (InvalidTag, ValueError) as error:
            raise DoesNotOpen from error

    def seal_mark(self, digest: bytes) -> bytes:
        """Return a digest of 16 bytes as it is stored and looked up: nobody without the key can guess what it is of."""
        return self._marks.encryptor().update(digest)

    def open_mark(self, sealed: bytes) -> bytes:
        """Return the digest that was sealed."""
        return self._marks.decryptor().update(sealed)

    def _place(self, column: bytes, row: Sequence[object]) -> bytes:
        """Return what a value is bound to. Ids have 16 bytes and numbers 8, so that no two places read alike."""
        key = [part.to_bytes(8, "little", signed=True) if isinstance(part, int) else part for part in row]
        return self._scope + column + b"\0" + b"".join(key)  # type: ignore[arg-type]  # keys are ids and numbers

    def _derived(self, purpose: bytes) -> bytes:
        return hmac.digest(self._key, purpose, "sha512")

    @cached_property
    def _names(self) -> AESSIV:
        return AESSIV(self._derived(b"names"))

    @cached_property
    def _marks(self) -> "Cipher[modes.ECB]":
        # One block each, and each block is a digest of its own: what ECB shows of repeated blocks does not arise.
        return Cipher(algorithms.AES(self._derived(b"marks")[:KEY_BYTES]), modes.ECB())  # noqa: S305


def _text(raw: bytes) -> str:
    return b64encode(raw).decode("ascii").rstrip("=")


def _raw(text: str) -> bytes:
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True)
    except ValueError as error:
        raise DoesNotOpen from error
