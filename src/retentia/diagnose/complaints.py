"""Complaints: the user says that the agent has forgotten."""

from collections.abc import Iterator, Sequence

from retentia.diagnose.log import Said, Step
from retentia.diagnose.own_words import sentences
from retentia.diagnose.symptom import Symptom, SymptomKind, quote
from retentia.diagnose.wording import wording

_BEFORE_IT = ("if ", "wenn ", "falls ", "якщо ", "whether ", "ob ", "that ", "because ", "since ", "given ")


def complaints(session: str, steps: Sequence[Step]) -> Iterator[Symptom]:
    """Yield each message of the user that complains about having to say something again."""
    for place, step in enumerate(steps):
        if not isinstance(step, Said) or step.role != "user" or not _answers_the_agent(steps[:place]):
            continue
        if (found := complaint_in(step.text)) is not None:
            yield Symptom(
                kind=SymptomKind.COMPLAINT,
                session=session,
                ids=(step.id,),
                quotes=(quote(found),),
                reason="the user says that it was said before",
            )


def complaint_in(text: str) -> str | None:
    """Return the sentence in which a text complains about forgetting, None without one."""
    for sentence in sentences(text):
        match = wording().complaints.search(sentence.own[:2_000])
        if match and not sentence.own[: match.start()].casefold().endswith(_BEFORE_IT):
            return text[sentence.start : sentence.end]
    return None


def _answers_the_agent(before: Sequence[Step]) -> bool:
    return any(isinstance(step, Said) and step.role == "assistant" for step in reversed(before))
