"""What a principal can do is what Memory does, by the same signatures; what nobody decided on, a principal cannot."""

import inspect
from typing import Any

import pytest

from retentia import Memory
from retentia.acting import ActingMemory
from retentia.acting_keeping import ActingKeeping
from retentia.errors import InvalidInput
from retentia.lifecycle.keeping import Keeping
from retentia.security.access import Principal

WHOLE_STORE = {
    "acting_as", "backup", "close", "drain", "ledger_entries", "open", "reembed", "reindex", "renew_ledger", "sweep",
    "verify_erasure",
}  # fmt: skip


def verbs(owner: type) -> dict[str, inspect.Signature]:
    functions = {name: value for name, value in vars(owner).items() if callable(getattr(owner, name))}
    return {name: inspect.signature(getattr(owner, name)) for name in functions if not name.startswith("_")}


def test_the_verbs_for_principals_have_the_signatures_of_memory() -> None:
    ours, theirs = verbs(ActingMemory), verbs(Memory)
    assert {name: theirs.get(name) for name in ours} == ours


def test_a_new_verb_of_memory_is_for_principals_or_is_named_here() -> None:
    assert verbs(Memory).keys() - verbs(ActingMemory).keys() == WHOLE_STORE


def test_the_bin_of_a_principal_has_the_signatures_of_the_bin_of_a_memory() -> None:
    ours, theirs = verbs(ActingKeeping), verbs(Keeping)
    assert ours.keys() == {"removed", "restore"}
    assert {name: theirs.get(name) for name in ours} == ours


@pytest.mark.parametrize("given", ["a b", "ä", "x" * 101, "-x", "", "a\nb", "anna@example.org"])
def test_what_is_not_opaque_is_refused_as_an_id_and_as_a_reason(given: str) -> None:
    for wrong in ({"id": given}, {"id": "sup-1", "reason": given}):
        fields: dict[str, Any] = {"role": "support", "tenant": "acme", "reason": "T-1", "expires_at": "2100", **wrong}
        with pytest.raises(InvalidInput):
            Principal(**fields)
