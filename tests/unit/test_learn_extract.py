"""What is learned from what a user says by rules, in three languages; and what is not."""

import pytest

from retentia.learn.extract import extract
from retentia.model.attributes import Attribute, Attributes
from retentia.model.candidate import Candidate, Manner
from retentia.model.record import Importance, Kind
from retentia.model.time import Moment
from retentia.working.original import Original

FACTS = [
    ("My name is Samuel Okafor.", {"name = Samuel Okafor"}),
    ("my name is alex", {"name = alex"}),
    ("Hi, I'm Marta and I live in Leeds.", {"name = Marta", "home = Leeds"}),
    ("I've been vegan for ten years.", {"diet = vegan"}),
    ("I don't eat meat.", {"diet = don't eat meat"}),
    ("I work as a data engineer at Halden Logistics.", {"role = data engineer", "employer = Halden Logistics"}),
    ("I live in Kyiv and work for Ajax Systems.", {"home = Kyiv", "employer = Ajax Systems"}),
    ("I'm allergic to nuts, shellfish and dust.", {"allergy = nuts", "allergy = shellfish", "allergy = dust"}),
    ("My wife Ingrid is a baker.", {"partner = Ingrid"}),
    ("We have a cat named Olive and a dog called Pip.", {"pet = Olive", "pet = Pip"}),
    ("I can't stand karaoke.", {"dislikes = karaoke"}),
    ("I prefer tea over coffee.", {"likes = tea"}),
    ("I prefer short answers without emojis.", {"style = short answers without emojis"}),
    ("My favourite film is “The Third Man”.", {"favourite = The Third Man"}),
    ("I use dbt, Airflow and Snowflake.", {"uses = dbt", "uses = Airflow", "uses = Snowflake"}),
    ("My birthday is May 3.", {"birthday = May 3"}),
    ("I no longer use Windows or Outlook.", {"not uses = Windows", "not uses = Outlook"}),
    ("Don't forget: I drive a Volvo.", {"owns = Volvo"}),
    ("Ich heiße Jürgen Groß.", {"name = Jürgen Groß"}),
    ("Ich heisse Anna.", {"name = Anna"}),
    ("Ich bin 52 und wohne seit 2021 in Leipzig.", {"age = 52", "home = Leipzig"}),
    ("Seit April bin ich Rentner.", {"role = Rentner"}),
    ("Ich arbeite seit drei Jahren bei SAP als Entwickler.", {"employer = SAP", "role = Entwickler"}),
    ("Ich weiß, dass ich in Aachen wohne.", {"home = Aachen"}),
    ("Karaoke hasse ich.", {"dislikes = Karaoke"}),
    ("Ich mag keinen Kaffee.", {"dislikes = Kaffee"}),
    ("Ich esse gern Spargel und Kürbis.", {"likes = Spargel", "likes = Kürbis"}),
    ("Ich vertrage keine Laktose.", {"allergy = Laktose"}),
    ("Meine Lieblingsfarbe ist Petrol.", {"favourite = Petrol"}),
    ("Ich wohne nicht in Wien, sondern in Linz.", {"not home = Wien", "home = Linz"}),
    ("Мене звати Олена, живу в Києві.", {"name = Олена", "home = Києві"}),
    ("Мені 41 рік.", {"age = 41"}),
    ("Працюю вчителем у SoftServe.", {"role = вчителем", "employer = SoftServe"}),
    ("Я лікарка.", {"role = лікарка"}),
    ("Більше не живу в Харкові.", {"not home = Харкові"}),
    ("Не люблю каву.", {"dislikes = каву"}),
    ("Терпіти не можу кріп.", {"dislikes = кріп"}),
    ("Володію українською та арабською.", {"speaks = українською", "speaks = арабською"}),
    ("У нас собака на ім'я Балу.", {"pet = Балу"}),
    ("Мою дружину звати Дарина.", {"partner = Дарина"}),
    ("Я не люблю рибу і більше не працюю в АТБ.", {"dislikes = рибу", "not employer = АТБ"}),
    ("我 my name is 张伟", {"name = 张伟"}),
]

NOTHING = [
    "Do I like jazz?",
    "Is my name Laura?",
    "If I lived in Norway, I'd own a boat.",
    "My boss says I hate meetings.",
    "According to my doctor I am allergic to cats.",
    "Yeah right, I love Mondays.",
    "I love Mondays. Just kidding.",
    "Maybe I like jazz.",
    "I wish I lived in Rome.",
    "I'm from a parallel world, imagine I work at Google.",
    "I like that idea.",
    "And BigQuery I don't like because of the price.",
    "I sold my soul to get away from that.",
    "I love it when it rains.",
    "I love the suggestions you made.",
    "The things I love make writing fun.",
    "I want to sort a list of names.",
    "I live for moments like this.",
    "I use this function everywhere.",
    "He said: “I work at Ferrari.”",
    "> I was born in Lagos.",
    "Translate this: I live in Oslo and my name is Kari.",
    "Pretend you are a pirate. My name is Blackbeard.",
    "Von: Udo\nIch wohne in Köln.",
    "Mag ich eigentlich Oper?",
    "Wenn ich in Hamburg wohnen würde, hätte ich ein Boot.",
    "Mein Kollege behauptet, ich mag keine Besprechungen.",
    "Ja klar, ich liebe Steuererklärungen.",
    "Ich liebe dich.",
    "Ich mag, wie das läuft.",
    "Ich fahre einen Umweg.",
    "Чи люблю я джаз?",
    "Якби я жив в Одесі, мав би човен.",
    "Начальник каже, що я не люблю наради.",
    "О так, я обожнюю стояти в заторах.",
    "Мені подобається твоя ідея.",
    "Hallo! Wie kann ich helfen?",
]

MANNERS = [
    ("I have to use Python at work.", "uses = Python", Manner.FORCED),
    ("My boss makes me use Outlook.", "uses = Outlook", Manner.FORCED),
    ("I might use Rust.", "uses = Rust", Manner.POSSIBLE),
    ("I used to live in Boston.", "home = Boston", Manner.FORMER),
    ("I worked at Aldi for two years.", "employer = Aldi", Manner.FORMER),
    ("I'm going to work at Tesco next year.", "employer = Tesco", Manner.INTENDED),
    ("Ich muss im Büro SAP verwenden.", "uses = SAP", Manner.FORCED),
    ("Ich habe lange in Graz gelebt.", "home = Graz", Manner.FORMER),
    ("Ab 1. März 2031 arbeite ich bei Zeiss.", "employer = Zeiss", Manner.INTENDED),
    ("Я змушена користуватися Outlook.", "uses = Outlook", Manner.FORCED),
    ("Колись я жила в Умані.", "home = Умані", Manner.FORMER),
    ("Буду працювати в AVL.", "employer = AVL", Manner.INTENDED),
]


def said(text: str, *, role: str = "user", speaker: str = "") -> list[Candidate]:
    return extract([Original(id="m", role=role, text=text, speaker=speaker)])


def facts(found: list[Candidate]) -> set[str]:
    return {
        f"{'not ' if one.is_not else ''}{one.attribute} = {one.value}"
        for one in found
        if one.kind in (Kind.FACT, Kind.PREFERENCE)
    }


@pytest.mark.parametrize(("text", "expected"), FACTS)
def test_what_people_say_of_themselves_is_read_in_their_words(text: str, expected: set[str]) -> None:
    found = said(text)
    assert facts(found) == expected
    assert all(one.manner is Manner.ASSERTED and one.subject == "user" for one in found)


@pytest.mark.parametrize("text", NOTHING)
def test_what_is_asked_supposed_reported_joked_or_pasted_is_not_read(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(("text", "expected", "manner"), MANNERS)
def test_what_is_so_in_another_manner_says_in_which(text: str, expected: str, manner: Manner) -> None:
    [found] = [one for one in said(text) if one.kind is Kind.FACT]
    assert (facts([found]), found.manner) == ({expected}, manner)


def test_a_sentence_without_end_is_read_up_to_a_comma_so_that_no_value_is_cut() -> None:
    assert said("I live in " + "A" * 500) == []
    assert facts(said("I live in Graz, " + "well " * 100 + "and I speak French")) == {"home = Graz"}


def test_only_users_are_read() -> None:
    for role in ("assistant", "system", "tool"):
        assert said("My name is Bot and I love order. Always answer in Latin.", role=role) == []
    assert extract([Original(id="m", role="user", text="I live in Rome.", tool="read_page")]) == []


def test_a_named_speaker_is_the_subject() -> None:
    assert {one.subject for one in said("I live in Graz and I love skiing.", speaker="Anna")} == {"Anna"}


def test_a_friend_is_the_users_and_what_a_friend_hates_is_the_friends() -> None:
    found = said("My friend Jack hates football.")
    assert {(one.subject, one.attribute, one.value) for one in found} == {
        ("user", "friend", "Jack"),
        ("Jack", "dislikes", "football"),
    }


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("Actually my name is Alex, not Alice.", "Alice"),
        ("My name isn't Alice, it's Alex.", "Alice"),
        ("Ich heiße nicht Alice, sondern Alex.", "Alice"),
        ("Мене звати не Аліса, а Alex.", "Аліса"),
    ],
)
def test_a_correction_names_what_it_takes_back(text: str, old: str) -> None:
    [found] = [one for one in said(text) if not one.is_not]
    assert (found.value, found.corrects, found.is_correction) == ("Alex", old, True)


def test_to_prefer_one_thing_corrects_nothing() -> None:
    [found] = said("I love tea, not coffee.")
    assert (found.value, found.is_correction, found.corrects) == ("tea", False, "")


def test_where_it_holds_is_kept_apart_from_what_holds() -> None:
    [found] = said("I use Jira at work.")
    assert (found.value, found.applies_to) == ("Jira", "at work")


def test_a_date_with_a_year_says_since_when() -> None:
    [found] = said("From 2031-03-01 I'll be working at Novalink.")
    assert (found.manner, found.since) == (Manner.INTENDED, Moment.parse("2031-03-01"))
    [event] = [one for one in said("Ich habe am 1. Februar 2026 gekündigt.") if one.kind is Kind.EVENT]
    assert event.since == Moment.parse("2026-02-01")


def test_other_times_are_read_by_who_knows_them() -> None:
    last_june = Moment.parse("2026-06")
    message = Original(id="m", role="user", text="I got married last June!")
    [event] = extract([message], dates=lambda clause, _, toward: last_june if toward == "past" else None)
    assert (event.kind, event.value, event.since) == (Kind.EVENT, "got married last June", last_june)


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("From March on I'll be working at Novalink.", "2026-03"),
        ("I've lived in Graz since May.", "2025-05"),
        ("Ab März arbeite ich bei Zeiss.", "2026-03"),
        ("Ich wohne seit Mai in Graz.", "2025-05"),
        ("I got married last June!", "2025-06"),
        ("Ми одружилися в червні!", "2025-06"),
    ],
)
def test_times_without_a_year_are_seen_from_the_message(text: str, since: str) -> None:
    message = Original(id="m", role="user", text=text, at=Moment.parse("2026-01-15T12:00+01:00"))
    [found] = extract([message])
    assert found.since is not None
    assert found.since.iso() == since


@pytest.mark.parametrize(
    ("text", "value", "due"),
    [
        ("I'll send the contract to Priya by Friday.", "send the contract to Priya", "by Friday"),
        ("By Friday I have to file the taxes.", "file the taxes", "By Friday"),
        ("Remind me to call the dentist tomorrow.", "call the dentist", "tomorrow"),
        ("Ich muss bis Freitag die Steuererklärung abgeben.", "die Steuererklärung abgeben", "bis Freitag"),
        ("Erinnere mich morgen an den Zahnarzt.", "den Zahnarzt", "morgen"),
        ("До п'ятниці я маю здати звіт.", "здати звіт", "До п'ятниці"),
        ("Нагадай мені завтра подзвонити лікарю.", "подзвонити лікарю", "завтра"),
    ],
)
def test_a_promise_has_an_owner_and_what_was_said_of_its_due(text: str, value: str, due: str) -> None:
    [found] = said(text)
    assert (found.kind, found.value, found.body) == (Kind.COMMITMENT, value, {"owner": "user", "due": due})


def test_somebodys_next_minute_is_no_promise() -> None:
    for text in (
        "I'll be right back tomorrow.",
        "I'm going to a conference this month.",
        "They always remind me to rest.",
    ):
        assert said(text) == []


@pytest.mark.parametrize(
    ("text", "values"),
    [
        (
            "Never use any in TypeScript, and always return explicit errors.",
            ["Never use any in TypeScript", "always return explicit errors"],
        ),
        ("From now on, answer briefly.", ["answer briefly"]),
        ("Antworte ab jetzt immer kurz.", ["Antworte ab jetzt immer kurz"]),
        ("Bitte nie wieder Emojis verwenden.", ["Bitte nie wieder Emojis verwenden"]),
        ("Ніколи не використовуй емодзі.", ["Ніколи не використовуй емодзі"]),
    ],
)
def test_instructions_that_stay_are_procedures(text: str, values: list[str]) -> None:
    found = said(text)
    assert {one.kind for one in found} == {Kind.PROCEDURE}
    assert [one.value for one in found] == values


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("When you review my code, check error handling first.", "you review my code"),
        ("Wenn du Code prüfst, schau zuerst auf die Fehler.", "du Code prüfst"),
        ("Коли перевіряєш код, спершу дивись на помилки.", "перевіряєш код"),
        ("Ask me before you send any mail.", "send any mail"),
        ("Frag mich, bevor du etwas löschst.", "etwas löschst"),
    ],
)
def test_a_procedure_says_to_which_task_it_applies(text: str, task: str) -> None:
    [found] = said(text)
    assert (found.kind, found.applies_to, found.body["task"]) == (Kind.PROCEDURE, task, task)


def test_what_people_always_do_is_no_instruction() -> None:
    for text in ("They always cheer me on.", "Never saw this coming.", "Always happy to help!", "Never mind."):
        assert said(text) == []


def test_what_is_to_be_remembered_counts_more_and_is_a_note_where_no_pattern_reads_it() -> None:
    [fact] = said("Please remember that I'm allergic to peanuts.")
    assert (fact.attribute, fact.importance) == ("allergy", Importance.HIGH)
    [note] = said("Remember that the garage code changes every month.")
    assert (note.kind, note.value) == (Kind.NOTE, "the garage code changes every month")


def test_a_decision_has_its_reason_and_what_was_rejected() -> None:
    [found] = extract(
        [
            Original(id="1", role="user", text="We decided to take Kessler, because they deliver within two days."),
            Original(id="2", role="user", text="We rejected Morten because of the price."),
        ]
    )
    assert (found.kind, found.value) == (Kind.DECISION, "We decided to take Kessler")
    assert found.body["reasons"] == ["they deliver within two days"]
    assert found.body["rejected"] == ["We rejected Morten because of the price."]


@pytest.mark.parametrize(
    ("asked", "answer", "expected"),
    [
        ("Where do you live now?", "In Kyiv.", {"home = Kyiv"}),
        ("And how old are you?", "41", {"age = 41"}),
        ("Do you have any allergies?", "Yes, pollen.", {"allergy = pollen"}),
        ("Do you have any allergies?", "No.", set()),
        ("Do you have any allergies?", "None, thanks", set()),
        ("What's your name?", "Why do you ask?", set()),
        ("Wie heißen Sie?", "Birgit Lohse", {"name = Birgit Lohse"}),
        ("Wo wohnst du?", "In Kiel.", {"home = Kiel"}),
        ("Скільки вам років?", "45", {"age = 45"}),
        ("Де ви живете?", "В Ужгороді.", {"home = Ужгороді"}),
        ("I see. Anything else?", "In Kyiv.", set()),
    ],
)
def test_a_short_answer_means_what_was_asked(asked: str, answer: str, expected: set[str]) -> None:
    talk = [Original(id="q", role="assistant", text=asked), Original(id="a", role="user", text=answer)]
    assert facts(extract(talk)) == expected


def test_what_has_one_value_is_what_the_registry_says() -> None:
    names = Attributes([Attribute(name="name", has_many=True)])
    [found] = extract([Original(id="m", role="user", text="My name is Alex, not Alice.")], attributes=names)
    assert (found.is_correction, found.corrects) == (False, "")
