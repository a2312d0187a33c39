"""Answers: what a short reply means, by the question of the assistant that it answers."""

import re
from collections.abc import Sequence

from retentia.languages.facts import FactPattern, fact_form, load_facts
from retentia.working.original import Original

_LONGEST_ANSWER = 60
_LONGEST_QUESTION = 300
_LAST_QUESTION = re.compile(r"[^.!?\n]*\?\s*$")


def answers_in(messages: Sequence[Original], place: int) -> list[FactPattern]:
    """Return the patterns that read a user's message as the answer to the question right before it."""
    if place == 0 or len(messages[place].text) > _LONGEST_ANSWER:
        return []
    before = messages[place - 1]
    if before.role != "assistant" or not before.text.rstrip().endswith("?"):
        return []
    asked = _LAST_QUESTION.search(fact_form(before.text)[-_LONGEST_QUESTION:])
    return [one for one in load_facts().answers if one.asks.search(asked[0])] if asked else []
