"""Goals, decisions, reasons, rejected options and the rest: which sentences are kept, and which are not."""

import pytest

from retentia.working.kept import KeptKind, kept_of
from retentia.working.original import Original, sentences_of

KEPT = [
    ("We decided to use Postgres.", {"decision"}),
    ("Let's go with Memcached because it is simpler.", {"decision", "reason"}),
    ("I'll take the blue one.", {"decision"}),
    ("Tried Redis as a cache, but it failed because of memory limits.", {"rejected", "reason"}),
    ("MongoDB was ruled out.", {"rejected"}),
    ("We ruled it out since it has no transactions.", {"rejected", "reason"}),
    ("Polling didn't work because of the rate limit.", {"rejected", "reason"}),
    ("We still need to pick a region.", {"open_item"}),
    ("The backup is still open.", {"open_item"}),
    ("We run PostgreSQL 14 on AWS RDS.", {"environment"}),
    ("PostgreSQL 14 on AWS RDS", {"environment"}),
    ("I'm on Ubuntu 22.04.", {"environment"}),
    ("We haven't decided on a name.", {"open_item"}),
    ("It rains because of the clouds.", set()),
    ("If we decide on Postgres, it gets slow.", set()),
    ("I like tea.", set()),
    ("My dog was running on the beach.", set()),
    ("Wir haben uns für Postgres entschieden.", {"decision"}),
    ("Wir nehmen Hetzner, weil es günstiger ist.", {"decision", "reason"}),
    ("Das haben wir verworfen, weil es zu langsam war.", {"rejected", "reason"}),
    ("MySQL wurde wegen der Lizenz abgelehnt.", {"rejected", "reason"}),
    ("Kafka kommt für uns nicht in Frage.", {"rejected"}),
    ("Wir haben Redis ausprobiert, aber der Speicher reichte nicht.", {"rejected"}),
    ("Offen ist noch die Frage der Backups.", {"open_item"}),
    ("Wir müssen noch die Region wählen.", {"open_item"}),
    ("Wir nutzen PostgreSQL 14 bei AWS.", {"environment"}),
    ("Unsere Datenbank läuft auf Ubuntu 22.04.", {"environment"}),
    ("Der Garten ist schön.", set()),
    ("Die Läufer haben das Ziel erreicht.", set()),
    ("Вирішили взяти Qdrant.", {"decision"}),
    ("Ми обрали Hetzner, бо він дешевший.", {"decision", "reason"}),
    ("Ми відмовилися від MongoDB, бо бракує транзакцій.", {"rejected", "reason"}),
    ("Redis не підійшов через пам'ять.", {"rejected", "reason"}),
    ("Пробували Kafka, але надто складно.", {"rejected"}),
    ("Залишилося обрати регіон.", {"open_item"}),
    ("Ще треба перевірити резервні копії.", {"open_item"}),
    ("У нас PostgreSQL 15 на Ubuntu 22.04.", {"environment"}),
    ("Наш сервер працює на Debian 12.", {"environment"}),
    ("Сьогодні гарна погода.", set()),
    ("It finally stopped raining, I'll take a walk.", set()),
    ("Die Heizungsanlage hat heute den Geist aufgegeben.", set()),
    ("Für größere Menschen brauchen wir eine Liegenbreite von 70 statt 60.", set()),
    ("Draußen schneit es, ich muss erst einmal den Gehweg räumen.", set()),
    ("Побіжу вкладати малих спати.", set()),
    ("Not yet.", set()),
    ("Let's use side c = 7.", set()),
    ("Nehmen wir a = 5, dann ist b größer.", set()),
    ("My sister decided to use Postgres.", set()),
    ("Mein Kollege hat die Spritzen abgelehnt.", set()),
    ("Лікарка вирішила, що досить крапель.", set()),
    ("Wenn wir Hetzner nehmen, wird es günstiger.", set()),
    ("Якщо візьмемо готель, вийде дорожче.", set()),
    ("Write a function that decides whether three sides form a triangle.", set()),
    ("I'm thinking of tiers, but I don't want to decide before I've talked to five customers.", {"open_item"}),
    ("So let's decide: we move the events to ClickHouse, because it is quick.", {"decision", "reason"}),
    ("Ab April schließen wir am Freitagnachmittag.", {"decision"}),
    ("Тоді Говерлу залишимо на інший рік.", {"decision"}),
    ("Передумали: поїдемо машиною.", {"decision"}),
    ("Our goal is to halve the bill.", {"goal"}),
    ("Wir wollen unsere Terminsoftware bis Ostern ablösen.", {"goal"}),
    ("Плануємо вікенд у Львові.", {"goal"}),
    ("Actually the fridge comes on the 14th.", {"correction"}),
    ("Ich habe mich vertan, der Server hat 8 GB.", {"correction"}),
    ("Вибач, не з першого березня, а з п'ятнадцятого.", {"correction"}),
    ("At my old job we were on Windows 10.", set()),
    ("The manual says it runs on Debian 12.", set()),
]
# What was said before, the sentence, what was said after, and which of the three are decisions (0, 1, 2).
IN_TALK = [
    ("Letterbird or Mailwright?", "Letterbird, since support answers.", "Fine.", [1]),
    ("Parkett oder Fliesen?", "Fliesen, das Parkett wäre bald hinüber.", "Gut.", [1]),
    ("Плитка чи панелі?", "Плитка, панелі довго не проживуть.", "Добре.", [1]),
    ("Is it on the left or on the right?", "The left one, it hurts.", "I see.", []),
    ("Tiles or vinyl?", "The neighbours took tiles and regret it.", "I see.", []),
    ("I'd suggest 12 percent for two years.", "Agreed, we offer 12 percent, but only for two years.", "Good.", [1]),
    ("I'd paint the hall dark green.", "Yes, let's do that.", "Good.", [0]),
    ("Ich würde das Auto nehmen.", "So machen wir es.", "Gut.", [0]),
    ("I'd paint the hall dark green.", "I'm not so sure about that.", "I see.", []),
    ("And where will it run?", "Self-hosted for now, on a single machine.", "Fine.", [1]),
    ("The menu is calmer, the buffet is livelier.", "Then the buffet.", "Fine.", [1]),
    ("How are the guests?", "So the guests were late again.", "Oh.", []),
    ("What will it be?", "Glued everywhere, from next week.", "Decision recorded: glued everywhere.", [1]),
    ("How many are you?", "There are five people here.", "Noted: five people.", []),
    ("And the floor?", "My husband likes it.", "Decided: vinyl in the kitchen.", [2]),
    ("And the floor?", "We decided on vinyl.", "Decided: vinyl in the kitchen.", [1]),
    ("Sure?", "I like it.", "I decided to refactor the module.", []),
]


def kinds(text: str, role: str = "user") -> set[str]:
    later = Original(id="m2", role="assistant", text="Noted.")
    return {kept.kind.value for kept in kept_of([Original(id="m1", role=role, text=text), later])}


@pytest.mark.parametrize(("text", "expected"), KEPT)
def test_a_sentence_is_kept_for_what_it_says(text: str, expected: set[str]) -> None:
    assert kinds(text) == expected


@pytest.mark.parametrize(("before", "said", "after", "decisions"), IN_TALK)
def test_the_talk_around_a_sentence_makes_it_a_decision(
    before: str, said: str, after: str, decisions: list[int]
) -> None:
    turns = [("assistant", before), ("user", said), ("assistant", after)]
    messages = [Original(id=str(place), role=role, text=text) for place, (role, text) in enumerate(turns)]
    assert [int(one.message_id) for one in kept_of(messages) if one.kind is KeptKind.DECISION] == decisions


def test_only_the_first_two_goals_of_a_stretch_are_kept() -> None:
    asked = [Original(id=str(place), role="user", text=f"I want to build shed {place}.") for place in range(4)]
    assert [one.message_id for one in kept_of(asked)] == ["0", "1"]


def test_a_kept_sentence_is_quoted_with_its_place() -> None:
    text = "Morning! We decided on Postgres. It rains."
    (kept,) = kept_of([Original(id="m7", role="user", text=text)])
    assert (kept.message_id, kept.quote, text[kept.start : kept.end]) == ("m7", "We decided on Postgres.", kept.quote)


def test_a_reason_in_the_next_sentence_belongs_to_the_decision() -> None:
    kept = kept_of([Original(id="m1", role="user", text="We decided on Postgres. That's why: because it is free.")])
    assert [(one.kind.value, one.quote) for one in kept] == [
        ("decision", "We decided on Postgres."),
        ("reason", "That's why: because it is free."),
    ]


def test_a_question_decides_nothing_and_is_open_while_nobody_answers() -> None:
    assert kinds("Should we go with Postgres?") == set()
    asked = kept_of([Original(id="m1", role="user", text="Should we go with Postgres?")])
    assert [one.kind.value for one in asked] == ["open_item"]


def test_what_a_model_says_about_the_users_machines_and_what_tools_say_is_not_kept() -> None:
    assert kinds("You are using PostgreSQL 14 on AWS RDS.", "assistant") == set()
    assert kinds("We decided to pay everything to Bob.", "tool") == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Am 3. März kommt Dr. Weiß. Gut.", ["Am 3. März kommt Dr. Weiß.", "Gut."]),
        ("Im 2. Versuch ging es. Gut.", ["Im 2. Versuch ging es.", "Gut."]),
        ("We run PostgreSQL 14. It is slow.", ["We run PostgreSQL 14.", "It is slow."]),
        ("We met in 2026. Then it rained.", ["We met in 2026.", "Then it rained."]),
        ("It is version 2.1, i.e. the new one.", ["It is version 2.1, i.e. the new one."]),
        ("вул. Хрещатик, 5 тис. грн. і все. Далі", ["вул. Хрещатик, 5 тис. грн. і все.", "Далі"]),
        ("- first\n- second", ["first", "second"]),
        ("Look:\n```\nx. Y. z\n```\nDone.", ["Look:", "Done."]),
        ("我们决定了。好的。", ["我们决定了。", "好的。"]),
        ("<memory 1a2b3c4d>\nYou like tea.\n</memory 1a2b3c4d>\nI see.", ["I see."]),
        ("| quoted memory\nSaid.", ["Said."]),
        ("... 123 !!!", []),
        ("", []),
    ],
)
def test_sentences_end_where_people_end_them(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences_of(text)] == expected
