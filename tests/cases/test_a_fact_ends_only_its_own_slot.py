"""Case 42: saying something else about a person or a thing ends nothing that is still true."""

from retentia import Memory, Scope


def values(memory: Memory, scope: Scope, subject: str) -> set[tuple[str, str]]:
    return {(one.claim.attribute, one.value) for one in memory.facts.profile(scope=scope, subject=subject).beliefs}


def test_naming_somebody_again_ends_no_fact_about_them(memory: Memory, scope: Scope) -> None:
    """graphiti#1728: 41 % of facts were ended because a later sentence named the same entity."""
    memory.add("Anna is CTO at X", scope=scope)
    memory.add("Anna administers X's GitHub org", scope=scope)
    assert values(memory, scope, "X") == {("cto", "Anna")}
    assert values(memory, scope, "Anna") == {("administers", "X's GitHub org")}
    for question in ("Who is the CTO of X?", "Who administers X's GitHub org?"):
        best = memory.facts.chains(question, scope=scope).best
        assert best is not None
        assert best.answer == "Anna"


def test_only_a_relation_with_one_value_takes_a_new_one(memory: Memory, scope: Scope) -> None:
    memory.add(["Anna is CTO at X", "Billing depends on Ledger."], scope=scope)
    memory.add(["Tom is CTO at X", "Billing depends on Vault.", "Tom is CFO at X"], scope=scope)
    assert values(memory, scope, "X") == {("cto", "Tom"), ("cfo", "Tom")}
    assert values(memory, scope, "Billing") == {("depends_on", "Ledger"), ("depends_on", "Vault")}
    ended = memory.facts.history("cto", scope=scope, subject="X")
    assert [(one.value, one.record.valid_to is None) for one in ended] == [("Anna", False), ("Tom", True)]
