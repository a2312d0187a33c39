from itertools import pairwise

import pytest

from retentia.index.english import english_stem
from retentia.index.fold import fold, fold_umlauts
from retentia.index.stems import cyrillic_stem, latin_stem

# Porter's own examples for the rules, step by step.
PORTER_2 = {
    "caresses": "caress", "ponies": "poni", "ties": "tie", "gas": "gas", "gaps": "gap", "kiwis": "kiwi",
    "agreed": "agre", "feed": "feed", "plastered": "plaster", "bled": "bled", "motoring": "motor", "sing": "sing",
    "luxuriating": "luxuri", "hopping": "hop", "hoped": "hope", "falling": "fall", "filing": "file", "adding": "add",
    "happy": "happi", "say": "say", "cry": "cri", "by": "by", "rational": "ration", "relational": "relat",
    "conditional": "condit", "digitizer": "digit", "vietnamization": "vietnam", "operator": "oper",
    "feudalism": "feudal", "decisiveness": "decis", "hopefulness": "hope", "callousness": "callous",
    "sensibility": "sensibl", "archaeology": "archaeolog", "generously": "generous", "communism": "communism",
    "triplicate": "triplic", "electrical": "electr", "goodness": "good", "formative": "format", "allowance": "allow",
    "adjustable": "adjust", "replacement": "replac", "adoption": "adopt", "effective": "effect", "rate": "rate",
    "cease": "ceas", "controlling": "control", "roll": "roll", "skies": "sky", "dying": "die", "news": "news",
    "evening": "evening", "organization": "organiz", "university": "universiti", "knightly": "knight",
    "consistently": "consist", "youth": "youth", "boyish": "boyish", "it": "it", "a": "a",
}  # fmt: skip


@pytest.mark.parametrize("word", PORTER_2)
def test_english_words_are_stemmed_by_the_published_rules(word: str) -> None:
    assert english_stem(word) == PORTER_2[word]


@pytest.mark.parametrize(
    "forms",
    [
        "haus hauses hausern", "kind kinder kindern kindes", "frau frauen", "freundin freundinnen",
        "kaufen gekauft kaufe", "arbeiten gearbeitet arbeite", "einkaufen eingekauft", "klein kleiner kleinste kleinen",
        "wohnung wohnungen", "tur turen", "lehrer lehrern lehrers",
    ],
)  # fmt: skip
def test_german_forms_share_a_stem(forms: str) -> None:
    assert len({latin_stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "words", ["time tim", "for forest", "her here", "not note", "come com", "have haven", "site sit"]
)
def test_german_endings_leave_short_english_words_apart(words: str) -> None:
    assert all(latin_stem(one) != latin_stem(other) for one, other in pairwise(words.split()))


@pytest.mark.parametrize(
    "forms",
    [
        "київ києва києву києві києвом", "львів львова львові", "харків харкова харкові", "одеса одесі одесу одесою",
        "олена олени олені олену оленою олено", "ольга ольги ользі ольгу", "іван івана іванові івану",
        "марія марії марію марією", "андрій андрія андрієві", "рік року році роки років роками",
        "книга книги книзі книгу книг", "вулиця вулиці вулицю вулиць", "робота роботи роботі роботу роботою робіт",
        "хлопець хлопця хлопці хлопців", "вікно вікна вікон", "сестра сестри сестрі сестер", "друг друга друзі друзів",
        "великий велика велике великого великої великими", "синій синя синього синьої",
        "працювати працюю працює працюють працював працювала працюватиму", "читати читає читав читала читання",
        "любити люблю любить любила", "подобатися подобається подобалася", "радість радості радістю",
    ],
)  # fmt: skip
def test_ukrainian_forms_share_a_stem(forms: str) -> None:
    assert len({cyrillic_stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "words",
    ["київ львів", "олена ольга", "книга каша", "рука река", "світлана світло", "програма прогрес", "мама мова"],
)
def test_different_ukrainian_words_keep_different_stems(words: str) -> None:
    assert len({cyrillic_stem(word) for word in words.split()}) == 2


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Größe", "grosse"), ("ÉCOLE", "ecole"), ("Ґанок", "ганок"), ("Ёж", "еж"), ("Їжак", "їжак"), ("йод", "йод"),
        ("за́мок", "замок"), ("ﬁne", "fine"), ("１２", "12"), ("Œuvre", "oeuvre"), ("Łódź", "lodz"),
        ("İstanbul", "istanbul"),
        ("ΟΔΟΣ", "οδοσ"), ("soft\u00adware", "software"), ("がく", "がく"), ("हिन्दी", "हिन्दी"), ("أحمد", "احمد"),
    ],
)  # fmt: skip
def test_letters_are_folded_only_where_they_mean_the_same(written: str, folded: str) -> None:
    assert fold(written) == folded


@pytest.mark.parametrize(
    ("two_letters", "umlaut"), [("groesse", "grosse"), ("mueller", "muller"), ("aepfel", "apfel"), ("schoen", "schon")]
)
def test_an_umlaut_written_as_two_letters_is_one(two_letters: str, umlaut: str) -> None:
    assert fold_umlauts(two_letters) == umlaut


@pytest.mark.parametrize("word", ["neue", "frauen", "quelle", "goes", "issues", "queued", "blue"])
def test_other_vowels_before_e_are_kept(word: str) -> None:
    assert fold_umlauts(word) == word
