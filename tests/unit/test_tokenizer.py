import numpy as np
import pytest

from retentia.index.tokenizer import analyse, analyse_query, date_text, forget_words, speaker_key
from retentia.model.passage import ENDS_WITH_QUESTION, HAS_TEMPORAL_EXPRESSION


def stems(text: str) -> set[int]:
    return set(np.frombuffer(analyse(text).stems, dtype="<u4").tolist())


def grams(text: str) -> set[int]:
    return set(np.frombuffer(analyse(text).grams, dtype="<u4").tolist())


def finds(query: str, text: str) -> bool:
    asked = set(analyse_query(query).stems.tolist())
    return bool(asked) and asked <= stems(text)


def test_ids_are_the_same_in_every_process_and_on_every_machine() -> None:
    assert analyse("Hello parks").stems.hex() == "86a61036337d07c4"
    assert analyse("Hello").grams.hex() == "e1e860a8e300861c0bb23478ee9ec808"


def test_stems_keep_the_order_of_the_text_and_leave_stop_words_out() -> None:
    assert (
        analyse("the dog chased a cat").stems == analyse("dog").stems + analyse("chased").stems + analyse("cat").stems
    )


@pytest.mark.parametrize(
    "question", ["What did you do when?", "Warum und wie?", "Що це, коли і де?", "who is it, whose, how?"]
)
def test_a_question_of_question_words_alone_asks_for_nothing(question: str) -> None:
    assert analyse_query(question).stems.size == 0
    assert analyse_query(question).grams.size == 0


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("painting", "She painted it"),
        ("hobbies", "a hobby"),
        ("Caroline", "Caroline's dog"),
        ("cafe naive", "naïve Café"),
        ("email", "an e-mail"),
        ("mother in law", "my mother-in-law"),
        ("use state hook", "the useState hook"),
        ("youtube", "on YouTube"),
    ],
)
def test_english_is_found_whatever_its_form(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Größe", "die Groesse"),
        ("Groesse", "meine Größe"),
        ("Grosse", "Größe"),
        ("Jürgen Groß", "Juergen Gross"),
        ("Straße", "Strasse"),
        ("Koeln", "in Köln"),
        ("Haus", "Häuser, des Hauses, in den Häusern"),
        ("Kinder", "mit den Kindern, ein Kind"),
        ("Freundin", "Freundinnen"),
        ("gekauft", "Ich werde es kaufen"),
        ("Schulen", "die Schule"),
        ("E-Mail-Adresse", "die E-Mail-Adressen"),
    ],
)
def test_german_is_found_whatever_its_form(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize("compound", ["Apfelkuchenrezept", "Kuchenrezepte", "Rezeptbuch"])
def test_a_german_compound_shares_grams_with_its_parts(compound: str) -> None:
    assert len(grams("Rezept") & grams(compound)) >= 3


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Київ", "живу в Києві"),
        ("у Києві", "Київ"),
        ("Олену", "Олена"),
        ("Харків", "з Харкова"),
        ("Львові", "Львів"),
        ("рік", "багато років"),
        ("день", "дня"),
        ("книга", "у книзі"),
        ("рука", "в руці"),
        ("працювала", "працювати, працюю"),
        ("радість", "з радості"),
        ("люблю", "любити"),
        ("гривня", "сто гривень"),
        ("роботи", "на роботі"),
        ("Ґудзик", "гудзик"),
        ("м'ята", "м’ята"),
        ("мята", "мʼята"),
        ("пам`ять", "пам'ять"),
    ],
)
def test_ukrainian_is_found_whatever_its_form(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(("query", "text"), [("книга", "о книге"), ("работать", "работает"), ("ёлка", "ёлки, елка")])
def test_russian_is_found_in_its_common_forms(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("пpивіт", "привіт"), ("Kиїв", "Київ"), ("cервер", "сервер"), ("pаsswоrd", "password"), ("ВMW", "BMW")],
)
def test_look_alikes_of_the_other_alphabet_are_read_as_meant(typed: str, meant: str) -> None:
    assert typed != meant
    assert analyse(typed).stems == analyse(meant).stems


def test_a_word_of_two_alphabets_is_found_by_both_parts() -> None:
    assert finds("SQL", "новий SQLзапит")
    assert finds("запит", "новий SQLзапит")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("张伟", "我叫张伟，住在北京"),
        ("北京", "2023年住在北京。"),
        ("猫", "我家有一只猫"),
        ("コンピュータ", "新しいコンピュータを買った"),
        ("ｺﾝﾋﾟｭｰﾀ", "コンピュータ"),
        ("서울", "저는 서울에서 살아요"),
        ("ไทย", "ภาษาไทยง่าย"),
        ("दुनिया", "नमस्ते दुनिया!"),
        ("محمد", "اسمي مُحَمَّد"),
        ("שלום", "שָׁלוֹם"),
        ("Αθήνα", "ΑΘΗΝΑ"),
        ("🎉", "We did it! 🎉"),
        ("ｆｕｌｌ", "Full"),
    ],
)
def test_every_script_is_found_in_its_own_way(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("PostgreSQL 14", "We run PostgreSQL 14 now."),
        ("postgresql14", "PostgreSQL14"),
        ("PostgreSQL 14", "PostgreSQL14"),
        ("$213.00", "It was $213.00."),
        ("213", "It was $213.00."),
        ("1500", "1,500 or 1.500"),
        ("3,5", "3.5"),
        ("3.11.7", "Python 3.11.7"),
        ("om_x100b54", "id=om_x100b54;"),
        ("x100b54", "om_x100b54"),
        ("ZX-9137-KIWI", "code (ZX-9137-KIWI)"),
        ("9137", "ZX-9137-KIWI"),
        ("auth.py", "see src/app/auth.py:42"),
        ("auth", "auth.py"),
        ("src/app/auth.py", "`src/app/auth.py`"),
        ("jane.doe@example.com", "<jane.doe@example.com>"),
        ("jane", "jane.doe@example.com"),
        ("example.com", "https://example.com/a/b.html?x=1"),
        ("b.html", "https://example.com/a/b.html?x=1"),
        ("https://example.com/a/b.html", "https://example.com/a/b.html"),
        ("C++", "in C++, not C#"),
        ("C#", "in C++, not C#"),
        ("R&D", "the R&D team"),
        ("14:30", "at 14:30."),
        ("5 km", "5km"),
        ("19 May", "May 19th"),
        ("2023-05-07", "on 2023-05-07"),
    ],
)
def test_codes_numbers_and_addresses_are_found_whole_and_by_parts(query: str, text: str) -> None:
    assert finds(query, text)


@pytest.mark.parametrize("query", ["was im Mai geschah", "подія у травні", "the event in May"])
def test_a_month_in_any_language_finds_the_date_that_is_mixed_in(query: str) -> None:
    assert stems(date_text(20230507)) & set(analyse_query(query).stems.tolist())


@pytest.mark.parametrize(
    "text",
    [
        "Really?",
        "Really?!",
        'She said "why?"',
        "Ok? 😊",
        "真的吗？",
        "حقا؟",
        "(Wirklich?)",
        "Справді?  ",
        "τι κάνεις\u037e",
    ],
)
def test_a_text_that_ends_by_asking_is_marked(text: str) -> None:
    assert analyse(text).flags & ENDS_WITH_QUESTION


@pytest.mark.parametrize("text", ["", "No.", "Why? Because.", "a ? b", "50 %"])
def test_a_text_that_ends_otherwise_is_not(text: str) -> None:
    assert not analyse(text).flags & ENDS_WITH_QUESTION


@pytest.mark.parametrize(
    "text",
    [
        "I went yesterday", "last week", "on Friday", "two years ago", "in 2019", "the 1990s", "at 7pm", "at 14:30",
        "on 7.5.2023", "since 2023-05", "In May we met", "in June",
        "Gestern war ich dort", "vor zwei Wochen", "am Montag", "im März", "nächstes Jahr", "um 8 Uhr",
        "Вчора бачив", "два тижні тому", "у п’ятницю", "в травні", "наступного року", "о 14:30",
    ],
)  # fmt: skip
def test_a_text_that_says_when_is_marked(text: str) -> None:
    assert analyse(text).flags & HAS_TEMPORAL_EXPRESSION


@pytest.mark.parametrize(
    "text", ["I may march on", "See you soon", "bald", "скоро", "version 3.11.7", "червоний", "12345"]
)
def test_a_text_that_does_not_is_not(text: str) -> None:
    assert not analyse(text).flags & HAS_TEMPORAL_EXPRESSION


@pytest.mark.parametrize(
    "question",
    [
        "When did she leave?", "What year was it?", "How long did it take?", "how many days?",
        "Do you know when it was?",
        "Wann kam er?", "Seit wann?", "In welchem Jahr war das?", "Wie lange noch?", "Wie viele Wochen?",
        "Коли це було?", "Якого дня?", "У якому році?", "Як довго?", "Скільки років минуло?",
    ],
)  # fmt: skip
def test_questions_about_time_are_recognised(question: str) -> None:
    assert analyse_query(question).asks_when


@pytest.mark.parametrize(
    "question", ["What does he do when it rains?", "Who called?", "Wer war das?", "Хто це?", "How many dogs?"]
)
def test_other_questions_are_not(question: str) -> None:
    assert not analyse_query(question).asks_when


@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("Caroline", "What did caroline's dog eat?"),
        ("Jürgen Groß", "Was sagt Juergen Gross?"),
        ("Олена", "Що сказали про Олену?"),
        ("Іван Петренко", "Де працює Іванові Петренку?"),
        ("Will", "Where does Will live?"),
    ],
)
def test_a_participant_is_recognised_in_a_question(name: str, question: str) -> None:
    assert speaker_key(name) <= analyse_query(question).words


def test_a_stop_word_is_not_taken_for_a_participant() -> None:
    assert not speaker_key("Will") <= analyse_query("Will it rain, and will we go?").words
    assert not speaker_key("Mark") <= analyse_query("What was she marking?").words


@pytest.mark.parametrize(
    ("day", "text"),
    [(20230507, "7 May 2023"), (20230500, "May 2023"), (20230000, "2023"), (0, ""), (9991231, "31 December 0999")],
)
def test_a_day_is_written_as_precisely_as_it_is_known(day: int, text: str) -> None:
    assert date_text(day) == text


def test_forgetting_words_changes_no_answer() -> None:
    before = analyse("some words to remember")
    forget_words()
    assert analyse("some words to remember") == before


HUGE = 1_000_000
LONG = 50_000


@pytest.mark.parametrize("text", ["x" * HUGE, "字" * HUGE, "a b " * (HUGE // 4)], ids=["word", "ideographs", "words"])
def test_a_megabyte_is_analysed(text: str) -> None:
    assert analyse(text).stems
    assert analyse(text).grams


@pytest.mark.parametrize(
    "unit", ["aA", "м", ".", "a-", "1,", "a'", "https://", "ye", "\u0301", "?", "ге", "\ud800", "\0", "🎉", "กำ", "가"]
)
def test_no_repetition_makes_a_long_run_costly(unit: str) -> None:
    found = analyse(unit * (LONG // len(unit)))
    assert len(found.stems) <= 16 * LONG


@pytest.mark.parametrize(
    "text", ["", " \n", "\0", "a\0b", "\ud800", "\u202e\u200b\ufeff", "👩‍👩‍👧‍👦👍🏽🇺🇦", "𝔘𝔫𝔦", "ﷺ", "\u0e31"]
)
def test_any_text_is_analysed(text: str) -> None:
    assert len(analyse(text).stems) % 4 == len(analyse(text).grams) % 4 == 0
    assert analyse_query(text).stems.dtype == np.uint32
