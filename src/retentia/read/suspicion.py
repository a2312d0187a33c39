"""Suspicion: tell, where a text is shown, that it came from outside and looks like an instruction."""

from retentia.model.provenance import Trust
from retentia.model.record import Record

LOOKS_LIKE_INSTRUCTION = "looks like an instruction"
"""The mark of such a text. A text without it is as little to be followed: only open orders are known."""


def looks_like_instruction(record: Record, text: str) -> bool:
    """Whether `text`, which is shown of a record, is of outside origin and looks like an order to an assistant."""
    if record.trust is not Trust.OUTSIDE:
        return False
    from retentia.security.injection import suspect

    return bool(suspect(text))
