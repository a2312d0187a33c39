"""Grounding: a candidate, whoever made it, is held to the words of its message."""

import pytest

from retentia.learn.ground import Grounding, Verdict, ground
from retentia.model.candidate import PERSON, Candidate, Manner
from retentia.model.ids import RecordId
from retentia.model.record import Kind
from retentia.model.time import Moment
from retentia.working.original import Original


def offered(text: str, attribute: str, value: str, **fields: object) -> Candidate:
    given = {"kind": Kind.FACT, "subject": PERSON, "start": 0, "end": len(text), **fields}
    return Candidate(attribute=attribute, value=value, message_id=RecordId("m"), **given)  # type: ignore[arg-type]


def judged(text: str, attribute: str, value: str, *, quote: str = "", role: str = "user", **fields: object) -> Verdict:
    return ground(offered(text, attribute, value, **fields), Original(id="m", role=role, text=text), quote=quote)


REJECTED = [
    ("I'm forced to use Python at work.", "likes", "Python", "against the speaker's will"),
    ("Do you like jazz?", "likes", "jazz", "asked"),
    ("If I lived in Norway, I'd be cold.", "home", "Norway", "supposed"),
    ("My boss says I hate meetings.", "dislikes", "meetings", "others say"),
    ("Yeah right, I love Mondays.", "likes", "Mondays", "not meant"),
    ("My friend Jack hates football.", "dislikes", "football", "somebody else"),
    ("She moved to Berlin.", "home", "Berlin", "somebody else"),
    ("I don't work at Vodafone anymore.", "employer", "Vodafone", "denies"),
    ("I can't stand karaoke.", "likes", "karaoke", "dislikes"),
    ("I live in Kyiv.", "home", "Lviv", "does not stand in the quote"),
    ("Живу в Києві.", "home", "Kyiv", "another script"),
    ("> I was born in Lagos.", "birthplace", "Lagos", "own"),
    ("```\nI live in Tokyo\n```", "home", "Tokyo", "own"),
    ("He wrote: “I have worked at Ferrari for a year now.”", "employer", "Ferrari", "quotation marks"),
    ("Meine Tante wohnt in Wien.", "home", "Wien", "somebody else"),
    ("Ich bin kein Veganer.", "diet", "Veganer", "denies"),
    ("Wenn ich in Hamburg wohne, fahre ich Rad.", "home", "Hamburg", "supposed"),
    ("Мій брат живе в Києві.", "home", "Києві", "somebody else"),
    ("Його дружину звати Ганна.", "partner", "Ганна", "somebody else"),
]

FLAGGED = [
    ("I have to use Jira.", "uses", "Jira", Manner.FORCED),
    ("I may move to Canada.", "home", "Canada", Manner.POSSIBLE),
    ("I used to live in Boston.", "home", "Boston", Manner.FORMER),
    ("I'll be working at Tesco.", "employer", "Tesco", Manner.INTENDED),
    ("I was in Berlin last week.", "home", "Berlin", Manner.INFERRED),
    ("Sincerely, Bob", "name", "Bob", Manner.INFERRED),
    ("I have a brother in Madrid.", "home", "Madrid", Manner.INFERRED),
    ("Ich muss Teams benutzen.", "uses", "Teams", Manner.FORCED),
    ("Колись я жила в Умані.", "home", "Умані", Manner.FORMER),
]


@pytest.mark.parametrize(("text", "attribute", "value", "reason"), REJECTED)
def test_what_the_message_does_not_say_of_its_speaker_is_rejected_with_the_reason(
    text: str, attribute: str, value: str, reason: str
) -> None:
    verdict = judged(text, attribute, value)
    assert (verdict.grounding, reason in verdict.reason) == (Grounding.REJECTED, True), verdict


@pytest.mark.parametrize(("text", "attribute", "value", "manner"), FLAGGED)
def test_what_is_said_in_another_manner_is_flagged_and_carries_it(
    text: str, attribute: str, value: str, manner: Manner
) -> None:
    verdict = judged(text, attribute, value)
    assert (verdict.grounding, verdict.candidate.manner) == (Grounding.FLAGGED, manner), verdict
    assert verdict.reason


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I live in Kyiv.", "home", "Kyiv"),
        ("My name is Chen Bo.", "name", "chen bo"),
        ("Ich wohne seit 2021 in Leipzig.", "home", "Leipzig"),
        ("Ich mag alte Western.", "likes", "alten Western"),
        ("Мене звати Олена, живу в Києві.", "home", "Київ"),
        ("Працюю вчителем.", "role", "вчитель"),
        ("My brother Max is here.", "sibling", "Max"),
    ],
)
def test_what_is_said_is_grounded_whatever_its_ending(text: str, attribute: str, value: str) -> None:
    assert judged(text, attribute, value) == Verdict(grounding=Grounding.OK, candidate=offered(text, attribute, value))


def test_a_quote_counts_more_than_offsets_that_a_model_miscounted() -> None:
    text = "Hello there. I live in “Kyiv”,  as you know."
    verdict = judged(text, "home", "Kyiv", quote='i live in "Kyiv", as', start=3, end=20)
    assert verdict.grounding is Grounding.OK
    assert text[verdict.candidate.start : verdict.candidate.end] == "I live in “Kyiv”,  as"


def test_a_quote_that_stands_nowhere_or_twice_is_not_taken() -> None:
    assert judged("I live in Kyiv.", "home", "Kyiv", quote="I dwell in Kyiv").grounding is Grounding.REJECTED
    assert judged("I live in Kyiv.", "home", "Kyiv", start=9, end=400).grounding is Grounding.REJECTED
    twice = judged("I live in Kyiv. I live in Kyiv.", "home", "Kyiv", quote="i live in kyiv", start=90, end=99)
    assert (twice.grounding, twice.reason) == (Grounding.FLAGGED, "the quote stands in several places")


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_only_the_users_words_ground_anything(role: str) -> None:
    verdict = judged("I live in Kyiv.", "home", "Kyiv", role=role)
    assert (verdict.grounding, role in verdict.reason) == (Grounding.REJECTED, True)


def test_another_message_grounds_nothing() -> None:
    other = Original(id="other", role="user", text="I live in Kyiv.")
    assert ground(offered("I live in Kyiv.", "home", "Kyiv"), other).grounding is Grounding.REJECTED


def test_another_subject_must_be_named() -> None:
    text = "My friend Jack hates football."
    assert judged(text, "dislikes", "football", subject="Jack").grounding is Grounding.OK
    assert judged(text, "dislikes", "football", subject="Bertrand").grounding is Grounding.REJECTED


def test_the_person_is_the_speaker_where_the_speaker_has_a_name() -> None:
    text = "I live in Graz."
    verdict = ground(offered(text, "home", "Graz"), Original(id="m", role="user", text=text, speaker="Anna"))
    assert (verdict.grounding, verdict.candidate.subject) == (Grounding.OK, "Anna")


def test_a_short_reply_is_grounded_by_its_question() -> None:
    asked = Original(id="q", role="assistant", text="Where do you live?")
    reply = Original(id="m", role="user", text="In Kyiv.")
    assert ground(offered("In Kyiv.", "home", "Kyiv"), reply).grounding is Grounding.FLAGGED
    assert ground(offered("In Kyiv.", "home", "Kyiv"), reply, asked=asked).grounding is Grounding.OK


def test_a_denial_needs_a_denial() -> None:
    assert judged("I no longer live in Boston.", "home", "Boston", is_not=True).grounding is Grounding.OK
    assert judged("I live in Boston.", "home", "Boston", is_not=True).grounding is Grounding.REJECTED


def test_a_time_that_nobody_named_is_flagged() -> None:
    text = "I live in Graz since 2021."
    assert judged(text, "home", "Graz", since=Moment.parse("2021")).grounding is Grounding.OK
    assert judged(text, "home", "Graz", since=Moment.parse("2019")).grounding is Grounding.FLAGGED
    promise = {"kind": Kind.COMMITMENT, "body": {"owner": PERSON, "due": "on Monday"}}
    assert judged("I'll send it by Friday.", "commitment", "send it", **promise).grounding is Grounding.FLAGGED


@pytest.mark.parametrize(
    "text", ["Did I get married?", "If I get married, we move.", "I didn't get married.", "Mum says I got married."]
)
def test_an_event_that_did_not_happen_is_rejected(text: str) -> None:
    assert judged(text, "milestone", "married", kind=Kind.EVENT).grounding is Grounding.REJECTED
    assert judged("I got married.", "milestone", "married", kind=Kind.EVENT).grounding is Grounding.OK
