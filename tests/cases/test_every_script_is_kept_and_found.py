"""Reports of texts that were translated, mangled or not found in another form. With the real default embedder."""

import pytest

from retentia import Memory, Scope

SAID = [
    "Мене звати Олена, живу в Києві",
    "Ich heiße Jürgen Groß",
    "我叫张伟，住在北京",
    "Ґанок пофарбували в зелений",
    "Die Größe der Lieferung beträgt zwölf Paletten",
    "昨日、東京でラーメンを食べました",
    "اسمي ليلى وأعمل في مستشفى",
]


def test_texts_are_kept_verbatim(told: Memory, scope: Scope) -> None:
    """mem0#3206, memU#29: facts were translated to English."""
    assert [message.text for message in told.messages(scope=scope)] == SAID


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("Київ", 0),
        ("Олену", 0),
        ("Juergen Gross", 1),
        ("Jurgen", 1),
        ("张伟", 2),
        ("北京", 2),
        ("ганок", 3),
        ("Groesse der Lieferungen", 4),
        ("ラーメン", 5),
        ("ليلى", 6),
    ],
)
def test_another_form_or_spelling_of_a_word_finds_its_message(
    told: Memory, scope: Scope, query: str, place: int
) -> None:
    assert told.recall(query, scope=scope, min_relevance=0)[0].record.text == SAID[place]
