import pytest

from retentia.errors import InvalidInput
from retentia.working.extract import HEAD, Extract, LineKind, extract
from retentia.working.kept import KeptKind
from retentia.working.original import Original

CHECKING = "Let me check the price of the nodes."
SESSION = [
    ("user", "Hi there! We run PostgreSQL 14 on AWS RDS. Our goal is to halve the bill by 3 March."),
    ("assistant", f"As you mentioned earlier, you like tea. {CHECKING} I'm happy to help!"),
    ("tool", '{"price": "$213.00",\n "id": "om_x100b54"}'),
    ("user", "Tried Redis as a cache, but it failed because of memory limits."),
    ("user", "Let's go with Memcached because it needs less memory."),
    ("tool", "Traceback:\n  File x\nConnectionError: refused by 10.0.0.1, caused by the firewall"),
    ("user", "Actually, the meeting is at 14:30, not 15:00. We still need to pick a region."),
    ("user", "Thanks!"),
]
GERMAN = [
    ("user", "Hallo! Wir nutzen PostgreSQL 14 bei AWS. Ich möchte die Kosten bis 3. März halbieren."),
    ("user", "Redis haben wir verworfen, weil der Speicher nicht reichte."),
    ("user", "Wir nehmen Memcached, weil es weniger Speicher braucht."),
    ("user", "Nein, das Treffen ist um 14.30 Uhr. Offen ist noch die Region."),
    ("user", "Danke!"),
]
UKRAINIAN = [
    ("user", "Привіт! У нас PostgreSQL 14 на AWS. Хочу зменшити рахунок до 3 березня."),
    ("user", "Ми відмовилися від Redis, бо бракує пам'яті."),
    ("user", "Вирішили взяти Memcached, бо йому треба менше пам'яті."),
    ("user", "Насправді зустріч о 14:30. Залишилося обрати регіон."),
    ("user", "Дякую!"),
]


def session(turns: list[tuple[str, str]]) -> list[Original]:
    return [
        Original(
            id=f"m{place}",
            role=role,
            text=text,
            tool="prices" if role == "tool" else "",
            status="error" if text.startswith("Traceback") else "",
        )
        for place, (role, text) in enumerate(turns)
    ]


def quotes(made: Extract, kind: LineKind) -> list[str]:
    return [line.quote for line in made.lines if line.kind is kind]


def test_an_extract_shows_goal_environment_decisions_rejected_options_corrections_tools_and_open_items() -> None:
    made = extract(session(SESSION))
    assert quotes(made, LineKind.GOAL) == ["Our goal is to halve the bill by 3 March."]
    assert quotes(made, LineKind.ENVIRONMENT) == ["We run PostgreSQL 14 on AWS RDS."]
    assert quotes(made, LineKind.DECISION) == ["Let's go with Memcached because it needs less memory."]
    assert quotes(made, LineKind.REJECTED) == ["Tried Redis as a cache, but it failed because of memory limits."]
    assert quotes(made, LineKind.CORRECTION) == ["Actually, the meeting is at 14:30, not 15:00."]
    assert quotes(made, LineKind.OPEN_ITEM) == ["We still need to pick a region."]


def test_a_tools_line_says_what_for_and_a_failed_one_its_cause() -> None:
    ok, failed = (line for line in extract(session(SESSION)).lines if line.kind is LineKind.TOOL)
    assert (ok.tool, ok.status, ok.purpose, ok.purpose_id) == ("prices", "ok", CHECKING, "m1")
    assert '"$213.00"' in ok.quote
    assert (failed.status, failed.quote) == ("error", "ConnectionError: refused by 10.0.0.1, caused by the firewall")


@pytest.mark.parametrize(
    ("turns", "still_open"),
    [(GERMAN, "Offen ist noch die Region."), (UKRAINIAN, "Залишилося обрати регіон.")],
    ids=["German", "Ukrainian"],
)
def test_an_extract_is_as_telling_in_other_languages(turns: list[tuple[str, str]], still_open: str) -> None:
    shown = {line.kind: line.quote for line in extract(session(turns)).lines}
    assert set(shown) >= {
        *(LineKind.GOAL, LineKind.ENVIRONMENT, LineKind.DECISION),
        *(LineKind.REJECTED, LineKind.CORRECTION, LineKind.OPEN_ITEM),
    }
    assert shown[LineKind.REJECTED] == turns[1][1]
    assert shown[LineKind.OPEN_ITEM] == still_open


def test_an_extract_says_what_it_is_and_names_the_message_of_each_line() -> None:
    lines = extract(session(SESSION)).text.split("\n")
    assert lines[0] == HEAD
    assert "Decision [m4]: Let's go with Memcached because it needs less memory." in lines


def test_small_talk_and_echoed_memory_are_left_out() -> None:
    text = extract(session(SESSION)).text
    assert not any(said in text for said in ("Hi there", "you like tea", "happy to help", "Thanks"))


def test_what_the_quotations_lack_stands_on_the_line_of_literals() -> None:
    turns = [*SESSION, ("assistant", "The order ZX-9137-KIWI has 17 parts, see https://example.com/7. " * 3)]
    made = extract(session(turns), max_words=60)
    assert all(literal.text in made.text for literal in made.literals)
    assert made.left_out == ()
    assert {literal.text for literal in extract(session(turns), max_words=60, literal_tokens=0).left_out}


def test_what_is_worth_a_record_comes_with_its_message_and_place() -> None:
    messages = session(SESSION)
    kept = extract(messages).kept
    texts = {message.id: message.text for message in messages}
    assert {one.kind for one in kept} == set(KeptKind)
    assert all(texts[one.message_id][one.start : one.end] == one.quote for one in kept)


def test_without_cues_the_most_central_sentences_are_quoted() -> None:
    turns = [
        ("user", "La ville de Lyon se trouve sur le Rhône."),
        ("user", "Le Rhône traverse la ville de Lyon au sud."),
    ]
    made = extract(session([*turns, ("assistant", "Bravo.")]))
    assert {line.kind for line in made.lines} == {LineKind.SAID}
    assert "Rhône" in made.text
    assert "Bravo" not in made.text


def test_small_talk_is_no_goal_and_where_no_goal_is_said_no_line_says_one() -> None:
    turns = [("user", "It rains again, I have to clear the pavement first."), ("assistant", "Enjoy it!")]
    made = extract(session(turns))
    assert [line for line in made.lines if line.kind is LineKind.GOAL] == []


def test_in_little_room_decisions_come_first_with_their_reasons() -> None:
    chatter = [("user", f"The garden of neighbour {number} has roses, tulips and a pond.") for number in range(9)]
    made = extract(session([*chatter, *SESSION]), max_words=30)
    assert quotes(made, LineKind.DECISION) == ["Let's go with Memcached because it needs less memory."]


def test_a_correction_is_shown_with_what_it_corrects() -> None:
    turns = [
        ("user", "The fridge comes on the 12th of May, the floor has to be dry by then."),
        ("assistant", "Noted, by the 12th."),
        ("user", "Actually the fridge comes on the 14th of May."),
    ]
    (line,) = (line for line in extract(session(turns)).lines if line.kind is LineKind.CORRECTION)
    assert (line.quote, line.purpose_id, line.purpose) == (turns[2][1], "m0", turns[0][1])
    assert f"Correction [m2]: {turns[2][1]} (before, [m0]: {turns[0][1]})" in extract(session(turns)).text


def test_the_same_thing_said_twice_is_quoted_once() -> None:
    made = extract(
        session([("user", "We decided on Postgres for the shop."), ("user", "We decided on Postgres for the shop!")])
    )
    assert len(made.lines) == 1


def test_an_empty_range_is_said_to_be_one_and_too_few_words_are_refused() -> None:
    assert extract([]).text == HEAD
    with pytest.raises(InvalidInput, match="max_words"):
        extract([], max_words=5)
