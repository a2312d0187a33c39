"""Whatever a talk is made of: candidates quote their message, and only users are read."""

from hypothesis import given
from hypothesis import strategies as st

from retentia.evals.learning_dialogues import load_dialogues
from retentia.learn.extract import extract, find
from retentia.learn.ground import Grounding, ground
from retentia.learn.plain_dates import plain_date
from retentia.model.candidate import Manner
from retentia.working.original import Original

SAID = sorted({one.text for dialogue in load_dialogues("development") for one in dialogue.messages})
TEXTS = st.one_of(st.sampled_from(SAID), st.text(max_size=80))
SEPARATORS = st.sampled_from([" ", "\n", "\n> ", ", ", ". ", " „", "” ", "? ", "\n```\n"])
MIXED = st.lists(st.one_of(TEXTS, SEPARATORS), max_size=6).map("".join)


@st.composite
def talks(draw: st.DrawFn) -> list[Original]:
    roles = draw(st.lists(st.sampled_from(["user", "assistant", "tool", "system"]), max_size=5))
    return [
        Original(id=f"m{place}", role=role, text=draw(MIXED), tool="read" if role == "tool" else "")
        for place, role in enumerate(roles)
    ]


@given(talks())
def test_every_candidate_quotes_a_users_message_and_has_its_value_in_the_quote(talk: list[Original]) -> None:
    messages = {one.id: one for one in talk}
    for found in find(talk):
        candidate = found.candidate
        message = messages[candidate.message_id]
        start, end = found.values
        assert message.role == "user"
        assert 0 <= candidate.start <= start < end <= candidate.end <= len(message.text)
        assert candidate.value.strip()
        assert candidate.value in message.text[candidate.start : candidate.end]
        assert 0 < candidate.confidence < 1


@given(talks())
def test_candidates_come_in_the_order_they_were_said(talk: list[Original]) -> None:
    order = {one.id: place for place, one in enumerate(talk)}
    places = [(order[one.message_id], one.start) for one in extract(talk)]
    assert places == sorted(places)


@given(talks())
def test_other_roles_add_nothing(talk: list[Original]) -> None:
    without_questions = [one for one in talk if one.role != "assistant"]
    users = [one for one in talk if one.role == "user"]
    assert extract(without_questions) == extract(users)


@given(talks())
def test_no_candidate_of_the_rules_is_rejected_by_grounding(talk: list[Original]) -> None:
    messages = {one.id: one for one in talk}
    before = dict(zip([one.id for one in talk][1:], talk, strict=False))
    for candidate in extract(talk):
        if candidate.manner is Manner.ASSERTED:
            verdict = ground(candidate, messages[candidate.message_id], asked=before.get(candidate.message_id))
            assert verdict.grounding is not Grounding.REJECTED, verdict.reason


@given(st.text(max_size=60))
def test_a_date_is_read_or_not_but_never_fails(text: str) -> None:
    plain_date(text)
