"""Does the tokenizer that indexed the store fit this version's?"""

from retentia.index.tokenizer import ANALYZER
from retentia.store import generations
from retentia.store.database import Transaction


def analyzer_mismatch(transaction: Transaction) -> str:
    """Say that another tokenizer than ours indexed the store, or "" when it was ours or the store is new."""
    stored = generations.read_setting(transaction, generations.ANALYZER)
    if stored in (None, ANALYZER):
        return ""
    return f"the store was indexed with tokenizer {stored!r}, this version has {ANALYZER!r}"
