"""What a resident index finds, in which order, and why."""

import numpy as np
import pytest

from index_rows import DIMENSION, ask, found, index_of, item, message, record_id, rows_of, vectors_of
from retentia.index import resident
from retentia.index.resident import ResidentIndex
from retentia.index.signals import Weights
from retentia.index.vectors import to_single


def test_the_record_that_says_it_comes_first() -> None:
    index = index_of(item(1, "The cat sleeps."), item(2, "Our server runs in Frankfurt."), item(3, "Pay the rent."))
    ranking = ask(index, "Where does the server run?")
    assert found(ranking)[0] == 2
    assert ranking.records[0].kind == "item"


def test_an_empty_index_answers_with_nothing() -> None:
    index = ResidentIndex(DIMENSION)
    ranking = ask(index, "anything")
    assert (ranking.records, ranking.filtered, len(index)) == ((), 0, 0)
    assert ranking.evidence.unseen == 1


def test_a_query_without_any_word_still_answers() -> None:
    assert len(ask(index_of(item(1, "one"), item(2, "two")), "???").records) == 2


def test_the_limit_counts_records_and_not_passages() -> None:
    long = " ".join(f"The budget of month {number} was discussed at length by the whole board." for number in range(40))
    index = index_of(item(1, long), item(2, "The budget is tight."), item(3, "No budget at all."))
    ranking = ask(index, "budget", limit=3)
    assert sorted(found(ranking)) == [1, 2, 3]


def test_a_long_record_says_which_of_its_passages_matched() -> None:
    sentences = [f"Paragraph {number} tells of the weather in some other town." for number in range(30)]
    sentences[17] = "The spare key hangs behind the boiler."
    text = " ".join(sentences)
    best = ask(index_of(item(1, text), item(2, "Nothing here.")), "Where is the spare key?").records[0].passages[0]
    assert "spare key" in text[best.start : best.end]
    assert best.end - best.start < 400


def test_what_the_message_before_asked_helps_to_find_the_answer() -> None:
    index = index_of(
        message(1, "Which colour did you paint the kitchen?"),
        message(2, "Sage green, two coats."),
        message(3, "Sage green, two coats.", session=2),
    )
    ranking = found(ask(index, "What colour is the kitchen painted?"))
    assert ranking.index(2) < ranking.index(3)


def test_context_never_crosses_a_session() -> None:
    index = index_of(message(1, "zebra"), message(2, "quiet", session=2), message(3, "calm", session=3))
    said = {int.from_bytes(entry.record_id, "big"): entry.signals for entry in ask(index, "zebra").records}
    assert said[1]["lexical"] > 0.5
    assert said[2]["lexical"] == said[3]["lexical"] == 0


def test_order_in_a_session_is_that_of_seq_and_not_of_arrival() -> None:
    early, middle, late = message(1, "zebra", seq=1), message(2, "plain", seq=2), message(3, "other", seq=9)
    in_order, shuffled = index_of(early, middle, late), index_of(late, early, middle)
    assert _scores(in_order, "zebra") == pytest.approx(_scores(shuffled, "zebra"), abs=1e-5)


def test_the_date_is_searched_with_the_message() -> None:
    index = index_of(
        message(1, "We went swimming.", day=20230508), message(2, "We went swimming.", day=20240911, session=2)
    )
    assert found(ask(index, "swimming in September 2024"))[0] == 2


def test_the_person_named_in_the_question_is_preferred() -> None:
    index = index_of(
        message(1, "I adopted a dog.", speaker="Mira Kovač", session=1),
        message(2, "I adopted a dog.", speaker="Tom Kovač", session=2),
    )
    for question, expected in (("Which animal did Mira adopt?", 1), ("Which animal did Tom Kovač adopt?", 2)):
        best = ask(index, question).records[0]
        assert int.from_bytes(best.record_id, "big") == expected
        assert best.signals["speaker"] == 1


def test_nobody_is_preferred_when_the_question_names_two() -> None:
    index = index_of(message(1, "I adopted a dog.", speaker="Mira"), message(2, "I have a cat.", speaker="Tom"))
    assert all("speaker" not in entry.signals for entry in ask(index, "What pets do Mira and Tom have?").records)


def test_the_users_words_count_more_than_the_assistants() -> None:
    index = index_of(
        message(1, "The deadline is in May.", role="assistant", session=1),
        message(2, "The deadline is in May.", role="user", session=2),
    )
    assert found(ask(index, "deadline"))[0] == 2


def test_less_flows_between_messages_where_an_assistant_takes_part() -> None:
    index = index_of(
        message(1, "zebra", session=1),
        message(2, "quiet", session=1),
        message(3, "zebra", session=2),
        message(4, "quiet", role="assistant", session=2),
    )
    said = {int.from_bytes(entry.record_id, "big"): entry.signals for entry in ask(index, "zebra").records}
    assert said[2]["lexical"] > said[4]["lexical"] > 0
    assert said[2]["grams"] > said[4]["grams"] > 0


def test_an_assistant_that_joins_later_changes_what_flowed_before() -> None:
    early = [message(number, f"{text} tea") for number, text in enumerate(("zebra", "quiet", "calm"), start=1)]
    answer = message(4, "Noted.", role="assistant")
    grown, whole = index_of(*early), index_of(*early, answer)
    grown.add(rows_of(answer), vectors_of(answer))
    assert _scores(grown, "zebra") == pytest.approx(_scores(whole, "zebra"), abs=1e-5)
    grown.remove([record_id(4)])
    assert _scores(grown, "zebra") == pytest.approx(_scores(index_of(*early), "zebra"), abs=1e-5)


def test_meaning_counts_up_to_twice_as_much_for_words_never_seen() -> None:
    index = index_of(item(1, "The proton bridge closes."), item(2, "Tea."), item(3, "Milk and bread."))
    for question, factor in (("proton bridge", 1.0), ("proton submarine", 1.5), ("unknown submarine", 2.0)):
        meaning_only = Weights(lexical=0, grams=0, session=0, bigrams=0, dense=0.25)
        for entry in ask(index, question, weights=meaning_only).records:
            assert entry.score == pytest.approx(0.25 * factor * entry.signals["dense"], abs=1e-5)


def test_a_question_between_people_counts_less_than_a_statement() -> None:
    index = index_of(
        message(1, "The ferry leaves at noon?", speaker="Ann", session=1),
        message(2, "The ferry leaves at noon.", speaker="Bea", session=2),
    )
    assert found(ask(index, "ferry", by_words=True))[0] == 2


def test_a_question_to_an_assistant_is_no_worse_than_a_statement() -> None:
    index = index_of(message(1, "How do I deploy this?", role="user"), message(2, "Run make deploy.", role="assistant"))
    assert all(entry.signals["question"] == 0 for entry in ask(index, "deploy").records)


def test_a_time_is_preferred_when_the_question_asks_when() -> None:
    index = index_of(
        message(1, "The roof was repaired by my uncle."), message(2, "The roof was repaired last Tuesday.", session=2)
    )
    assert found(ask(index, "When was the roof repaired?"))[0] == 2
    assert "temporal" not in ask(index, "Who repaired the roof?").records[0].signals


def test_a_passage_without_a_vector_is_found_by_its_words() -> None:
    sources = (item(1, "The boiler code is 7731."), item(2, "Lunch is at one."))
    index = ResidentIndex.build(rows_of(*sources), vectors_of(sources[1]), dimension=DIMENSION)
    assert index.without_vector == 1
    ranking = ask(index, "boiler code")
    assert found(ranking)[0] == 1
    assert ranking.records[0].signals["dense"] == 0


def test_an_index_without_an_embedder_works_by_words() -> None:
    index = ResidentIndex.build(rows_of(item(1, "Green tea."), item(2, "Black coffee.")), [], dimension=0)
    ranking = ask(index, "coffee", by_words=True)
    assert found(ranking)[0] == 2
    assert ranking.evidence.cosine is None
    assert "dense" not in ranking.records[0].signals


def test_a_vector_is_ignored_while_no_passage_has_one() -> None:
    index = index_of(item(1, "Green tea."), item(2, "Black coffee."), embedded=False)
    assert ask(index, "coffee").evidence.cosine is None


def test_cosines_that_hardly_differ_do_not_decide_in_a_small_scope() -> None:
    index = index_of(item(1, "The ferry leaves at noon."), item(2, "The ferry leaves at noon, then."))
    one, other = (entry.signals["dense"] for entry in ask(index, "ferry at noon").records)
    assert abs(one - other) < 0.9


def test_the_mask_narrows_inside_the_search() -> None:
    index = index_of(*(item(number, f"The rent is {number} euros.") for number in range(1, 40)), item(40, "Milk."))
    allowed = index.columns.rows_of([record_id(40), record_id(7)])
    ranking = ask(index, "rent euros", limit=5, allowed=allowed)
    assert found(ranking) == [7, 40]
    assert ranking.filtered == 38


def test_the_evidence_is_that_of_what_may_be_returned() -> None:
    index = index_of(item(1, "The rent is due."), item(2, "Milk and bread."))
    everything, milk = ask(index, "rent"), ask(index, "rent", allowed=index.columns.rows_of([record_id(2)]))
    assert everything.evidence.lexical > 0.5
    assert milk.evidence.lexical == 0
    assert milk.evidence.unseen == everything.evidence.unseen == 0


def test_evidence_says_which_share_of_the_words_was_never_seen() -> None:
    index = index_of(item(1, "The proton bridge closes in June."), item(2, "Tea."))
    assert ask(index, "proton bridge").evidence.unseen == 0
    assert ask(index, "proton submarine").evidence.unseen == pytest.approx(0.5)


def test_equal_scores_come_in_the_order_of_their_ids() -> None:
    index = index_of(*(item(number, "The very same words.") for number in (5, 3, 9, 1)))
    assert found(ask(index, "same words")) == [1, 3, 5, 9]


def test_weights_decide_the_order() -> None:
    index = index_of(
        message(1, "The deadline is in May.", role="assistant", session=1),
        message(2, "The deadline is in May.", role="user", session=2),
    )
    assert found(ask(index, "deadline", weights=Weights(assistant=0.5)))[0] == 1


def test_a_removed_record_leaves_nothing_in_its_neighbours() -> None:
    texts = ["zebra crossing", "plain words", "other words"]
    index = index_of(*(message(number, text) for number, text in enumerate(texts, start=1)))
    assert ask(index, "zebra").records[-1].signals["lexical"] > 0
    index.remove([record_id(1)])
    ranking = ask(index, "zebra")
    assert sorted(found(ranking)) == [2, 3]
    assert all(entry.signals["lexical"] == entry.signals["grams"] == 0 for entry in ranking.records)
    assert ranking.evidence.unseen == 1


def test_removing_what_is_not_held_changes_nothing() -> None:
    index = index_of(item(1, "one"))
    index.remove([record_id(99)])
    assert found(ask(index, "one")) == [1]


def test_dead_rows_are_dropped_once_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "_FEWEST_DEAD", 4)
    sources = [
        message(number, f"Note {number} about topic {number % 3}.", speaker=f"P{number % 4}", day=20240101 + number)
        for number in range(20)
    ]
    index = index_of(*sources)
    index.remove([record_id(number) for number in range(12)])
    assert len(index.columns) == len(index) == 8
    assert _scores(index, "topic 2 of P1") == pytest.approx(_scores(index_of(*sources[12:]), "topic 2 of P1"), abs=1e-5)


def test_a_big_view_is_searched_in_two_steps_with_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["rent", "milk", "boat", "tax", "key", "roof", "dog", "tea", "road", "song"]
    sources = [
        message(at, f"{words[at % 10]} {words[at // 7 % 10]} {words[at // 31 % 10]} {at}", session=at // 9)
        for at in range(400)
    ]
    exact = index_of(*sources)
    monkeypatch.setattr(resident, "EXACT_UP_TO", 100)
    monkeypatch.setattr(resident, "CANDIDATES", 120)
    in_steps = index_of(*sources)
    for question in ("boat key 316", "roof tea", "dog song milk 77"):
        monkeypatch.setattr(resident, "EXACT_UP_TO", 20_000)
        expected = ask(exact, question, limit=1)
        monkeypatch.setattr(resident, "EXACT_UP_TO", 100)
        assert found(ask(in_steps, question, limit=1)) == found(expected)


def test_the_mask_reaches_what_a_big_view_would_not_look_at_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resident, "EXACT_UP_TO", 100)
    monkeypatch.setattr(resident, "CANDIDATES", 10)
    index = index_of(*(item(number, f"The rent is {number} euros.") for number in range(300)), item(300, "Milk."))
    ranking = ask(index, "rent", allowed=index.columns.rows_of([record_id(300), record_id(7)]))
    assert found(ranking) == [7, 300]


def test_memory_is_counted() -> None:
    index = index_of(*(item(number, f"Note {number} about the garden.") for number in range(200)))
    assert 200 * DIMENSION * 4 < index.nbytes < 200 * (DIMENSION * 4 + 2000)


def test_half_precision_is_widened_exactly() -> None:
    halves = np.arange(1 << 16, dtype="<u2").view("<f2")
    finite = np.isfinite(halves)
    assert np.array_equal(to_single(halves.tobytes())[finite], halves.astype(np.float32)[finite])


def _scores(index: ResidentIndex, question: str) -> dict[bytes, float]:
    return {entry.record_id: entry.score for entry in ask(index, question, limit=100).records}
