import pytest

from retentia.learn.chains import find_chains
from retentia.learn.graph import StatedGraph, stated
from retentia.learn.statements import read_statements

ENGLISH = """Billing depends on Ledger. Anna is responsible for Ledger. Anna works for Acme. Tom is the CTO of Acme.
Ledger uses PostgreSQL. The headquarters of Acme is in Hamburg. Anna's manager is Tom.
user_1 works for Foo.
user_11 works for Bar. Hamburg is located in Germany. Anna administers Acme's GitHub org. Eva is the CEO of Acme.
The mascot of Acme is Otto. Globex was founded by Hank. Acme was founded by Lena. The capital of Germany is Berlin."""
GERMAN = """Billing hängt von Ledger ab. Anna ist für Ledger verantwortlich. Die Chefin von Blau ist Anna.
Ledger nutzt PostgreSQL. Anna wurde in Köln geboren. Die Hauptstadt von Frankreich ist Paris. Anna arbeitet bei Acme."""
UKRAINIAN = """Billing залежить від Ledger. Анна відповідає за Ledger. Реєстр залежить від Сховища.
Оксана відповідає за Сховище. Київ є столицею України. Анна народилася у Львові. Тарас працює в Acme."""


def graph(text: str) -> StatedGraph:
    return stated(read_statements(text))


@pytest.mark.parametrize(
    ("text", "question", "answer", "relations"),
    [
        (
            ENGLISH,
            "Who is responsible for the component that Billing depends on?",
            "Anna",
            ["depends_on", "responsible_for"],
        ),
        (
            ENGLISH,
            "Who is the manager of the person responsible for the component Billing depends on?",
            "Tom",
            ["depends_on", "responsible_for", "manager"],
        ),
        (ENGLISH, "Where is the headquarters of the company Anna works for?", "Hamburg", ["employer", "headquarters"]),
        (ENGLISH, "What depends on Ledger?", "Billing", ["depends_on"]),
        (ENGLISH, "What does Billing depend on?", "Ledger", ["depends_on"]),
        (ENGLISH, "Who uses PostgreSQL?", "Ledger", ["uses"]),
        (ENGLISH, "Who is Anna's boss?", "Tom", ["manager"]),
        (ENGLISH, "Who founded Globex?", "Hank", ["founder"]),
        (ENGLISH, "Who was Globex founded by?", "Hank", ["founder"]),
        (ENGLISH, "What did Lena found?", "Acme", ["founder"]),
        (ENGLISH, "What is the mascot of Acme?", "Otto", ["mascot"]),
        (ENGLISH, "What is the mascot of Anna's employer?", "Otto", ["employer", "mascot"]),
        (GERMAN, "Wer ist für die Komponente verantwortlich, von der Billing abhängt?", "Anna", None),
        (GERMAN, "Wovon hängt Billing ab?", "Ledger", ["depends_on"]),
        (GERMAN, "Was hängt von Ledger ab?", "Billing", ["depends_on"]),
        (GERMAN, "Wo wurde Anna geboren?", "Köln", ["birthplace"]),
        (GERMAN, "Wer ist der Chef von Blau?", "Anna", None),
        (GERMAN, "Was ist die Hauptstadt von Frankreich?", "Paris", ["capital"]),
        (UKRAINIAN, "Хто відповідає за компонент, від якого залежить Billing?", "Анна", None),
        (UKRAINIAN, "Хто відповідає за те, від чого залежить Реєстр?", "Оксана", ["depends_on", "responsible_for"]),
        (UKRAINIAN, "Від чого залежить Billing?", "Ledger", ["depends_on"]),
        (UKRAINIAN, "Що залежить від Ledger?", "Billing", ["depends_on"]),
        (UKRAINIAN, "Яка столиця України?", "Київ", ["capital"]),
        (UKRAINIAN, "Де народилася Анна?", "Львові", ["birthplace"]),
    ],
)
def test_a_question_is_answered_by_the_path_that_explains_it(
    text: str, question: str, answer: str, relations: list[str] | None
) -> None:
    best = find_chains(question, graph(text)).best
    assert best is not None
    assert best.answer == answer
    assert relations is None or [edge.relation for edge in best.edges] == relations


def test_a_name_that_another_begins_with_is_not_the_other() -> None:
    known = graph(ENGLISH)
    asked = {name: find_chains(f"Which company does {name} work for?", known).best for name in ("user_1", "user_11")}
    assert {name: chain and chain.answer for name, chain in asked.items()} == {"user_1": "Foo", "user_11": "Bar"}
    assert find_chains("Who is Ann's manager?", known).chains == ()
    assert find_chains("Who is Anna Smith's manager?", known).chains == ()
    assert find_chains("Who is Mary-Anna's manager?", known).chains == ()


def test_the_longest_name_that_is_known_is_meant() -> None:
    known = graph("Tom is the CEO of Acme. Eva is the CEO of Acme North.")
    best = find_chains("Who is the CEO of Acme North?", known).best
    assert best is not None
    assert best.answer == "Eva"


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Who is the manager of Zoe?", "the question names nothing that is known"),
        ("", "the question names nothing that is known"),
        ("Anna?", "the question has no words for a relation"),
        ("What is the shoe size of Anna?", "no path of known relations explains the question"),
        ("What is the birthplace of the CTO of Acme?", "no path of known relations explains the question"),
        ("Which city is the capital of the country of Anna?", "no path of known relations explains the question"),
    ],
)
def test_nothing_is_answered_where_no_path_explains_the_question(question: str, reason: str) -> None:
    found = find_chains(question, graph(ENGLISH))
    assert (found.chains, found.best, found.reason) == ((), None, reason)


def test_a_chain_tells_the_statements_it_rests_on_and_the_words_it_explains() -> None:
    best = find_chains("Who is responsible for the component that Billing depends on?", graph(ENGLISH)).best
    assert best is not None
    assert [(edge.subject, edge.object, edge.source) for edge in best.edges] == [
        ("Billing", "Ledger", "0"),
        ("Anna", "Ledger", "1"),
    ]
    assert [step.is_inverse for step in best.steps] == [False, True]
    assert {"responsible", "billing", "depends"} <= set(best.explained)


def test_of_many_objects_the_one_stated_last_comes_first() -> None:
    known = graph("Anna is a citizen of France. Anna is a citizen of Spain.")
    found = find_chains("What is the citizenship of Anna?", known)
    assert [chain.answer for chain in found.chains] == ["Spain", "France"]


def test_a_new_object_takes_the_place_of_the_only_one() -> None:
    known = graph("The capital of Germany is Bonn. The capital of Germany is Berlin.")
    assert [chain.answer for chain in find_chains("What is the capital of Germany?", known).chains] == ["Berlin"]
    assert find_chains("Which country has Bonn as its capital?", known).chains == ()


def test_the_type_that_is_asked_for_decides_between_paths() -> None:
    known = graph("Bolt was founded by Lena. Bolt was founded in the city of Rome.")
    answers = [find_chains(f"{asked} Bolt founded?", known).best for asked in ("Who was it that", "In which city was")]
    assert [chain and chain.answer for chain in answers] == ["Lena", "Rome"]


def test_a_relation_that_a_user_adds_is_asked_for_by_its_words() -> None:
    from retentia.learn.relations import shipped_relations

    steers = {"values": "one", "says": ["{s} pilots {o}"], "verbs": ["pilot*"], "subject": "person"}
    relations = shipped_relations().extended({"relation": {"steers": steers}})
    known = stated(read_statements("Anna pilots Albatross. Anna works for Acme.", relations), relations)
    best = find_chains("Who pilots Albatross?", known, relations).best
    assert best is not None
    assert best.answer == "Anna"
