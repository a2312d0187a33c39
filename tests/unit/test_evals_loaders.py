import json
from pathlib import Path
from typing import Any

import pytest

from retentia.errors import InvalidInput
from retentia.evals.dataset import Dataset, Entry, Group, Question, ask_neighbours, existing
from retentia.evals.loaders import (
    load_beam,
    load_lifebench,
    load_locomo,
    load_metatool,
    load_multilingual,
    load_xquad,
)
from retentia.evals.loaders.beam import flat_ids, strip_marker
from retentia.evals.loaders.locomo import turns_cited


def _write(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def _sample(name: str, qa: list[dict[str, Any]]) -> dict[str, Any]:
    turns = [
        {"speaker": "Ann", "dia_id": "D1:1", "text": "Look!", "blip_caption": "a photo of a dog", "img_url": ["x"]},
        {"speaker": "Bo", "dia_id": "D1:2", "text": "Cute."},
    ]
    later = [{"speaker": "Ann", "dia_id": "D2:1", "text": "He is called Rex."}]
    conversation = {
        "speaker_a": "Ann",
        "speaker_b": "Bo",
        "session_2_date_time": "12:05 am on 9 June, 2023",
        "session_2": later,
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": turns,
        "session_3_date_time": "1:00 pm on 8 July, 2023",
    }
    return {"sample_id": name, "conversation": conversation, "qa": qa, "session_summary": {"s": "by a model"}}


@pytest.fixture
def locomo(tmp_path: Path) -> Path:
    qa = [
        {"question": "Which year?", "answer": 2022, "evidence": ["D1:2", "D9:9"], "category": 2},
        {"question": "What?", "answer": "x", "evidence": ["D1:1; D2:1"], "category": 1},
        {"question": "Would she?", "answer": "no", "evidence": [], "category": 3},
        {"question": "A trap?", "adversarial_answer": "y", "evidence": ["D1:1"], "category": 5},
    ]
    other = [{"question": "Where?", "answer": "z", "evidence": ["D2:1"], "category": 4}]
    return _write(tmp_path / "locomo.json", [_sample("c1", qa), _sample("c2", other)])


@pytest.mark.parametrize(
    ("evidence", "turns"),
    [
        (["D1:3"], ["D1:3"]),
        (["D:11:26"], ["D11:26"]),
        (["D8:6; D9:17"], ["D8:6", "D9:17"]),
        (["D9:1 D4:4 D4:6"], ["D9:1", "D4:4", "D4:6"]),
        (["D30:05"], ["D30:5"]),
        (["D1:18", "D", "D1:20"], ["D1:18", "D1:20"]),
    ],
)
def test_malformed_evidence_still_names_its_turns(evidence: list[str], turns: list[str]) -> None:
    assert turns_cited(evidence) == turns


def test_locomo_turns_come_in_order_of_sessions_with_date_speaker_and_picture(locomo: Path) -> None:
    first, *_, last = load_locomo(locomo).groups[0].entries
    assert first == Entry(
        source="D1:1",
        text="Look!",
        session="session_1",
        role="user",
        speaker="Ann",
        at="2023-05-08T13:56:00+00:00",
        caption="a photo of a dog",
    )
    assert (last.source, last.at) == ("D2:1", "2023-06-09T00:05:00+00:00")


def test_locomo_scores_what_cites_an_existing_turn_and_is_no_trap(locomo: Path) -> None:
    group = load_locomo(locomo).groups[0]
    assert [(question.gold, question.answer) for question in group.scored] == [
        (("D1:2",), "2022"),
        (("D1:1", "D2:1"), "x"),
    ]
    assert [question.text for question in group.unanswerable] == ["A trap?"]
    assert group.unanswerable[0].gold == ()


def test_what_was_left_out_of_locomo_is_said(locomo: Path) -> None:
    assert load_locomo(locomo).notes == (
        "1 answerable questions cite no turn that exists and are not scored",
        "1 adversarial questions count as not answerable",
    )


def test_corrections_replace_the_cited_turns(locomo: Path, tmp_path: Path) -> None:
    audit = _write(tmp_path / "audit.json", [{"question": "Which year?", "category": 2, "correct_evidence": ["D2:1"]}])
    assert load_locomo(locomo, corrections=audit).groups[0].scored[0].gold == ("D2:1",)


def test_a_conversation_is_asked_the_questions_of_the_next_one(locomo: Path) -> None:
    one, two = load_locomo(locomo).groups
    assert one.foreign == two.scored
    assert two.foreign == one.scored


def test_a_limit_keeps_the_questions_from_elsewhere(locomo: Path) -> None:
    kept = load_locomo(locomo).first(1)
    assert [group.name for group in kept.groups] == ["c1"]
    assert kept.groups[0].foreign


def test_a_lone_group_has_no_questions_from_elsewhere() -> None:
    group = Group(name="g", entries=(), questions=(Question(id="1", text="?", gold=("a",)),))
    assert ask_neighbours([group]) == (group,)


def test_gold_that_does_not_exist_is_dropped_and_repeats_count_once() -> None:
    assert existing(["b", "a", "b", "x"], [Entry(source="a", text=""), Entry(source="b", text="")]) == ("b", "a")


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("When is it due? ->-> 3,7", "When is it due?"),
        ("two blanks ->->  3,10", "two blanks"),
        ("no number ->-> 2,N/A", "no number"),
        ("(in brackets ->-> 5,14)", "(in brackets)"),
        ("a -> b, and p->->q stay", "a -> b, and p->->q stay"),
        ("see ->-> 3,7 in the middle", "see ->-> 3,7 in the middle"),
    ],
)
def test_generator_markers_are_stripped_from_the_end_only(text: str, kept: str) -> None:
    assert strip_marker(text) == kept


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ([4, 60], ["4", "60"]),
        ([116, [136, 138]], ["116", "136", "138"]),
        ({"first_event": [2], "second_event": [0]}, ["2", "0"]),
        ({"a": {"b": [[1]]}, "c": "7"}, ["1", "7"]),
        (None, []),
    ],
)
def test_message_ids_are_found_in_any_nesting(value: object, ids: list[str]) -> None:
    assert list(flat_ids(value)) == ids


@pytest.fixture
def beam(tmp_path: Path) -> Path:
    for name in ("10", "2"):
        asked = {"role": "user", "id": 0, "time_anchor": "March-15-2024", "content": "Plan it. ->-> 1,1"}
        told = {"role": "assistant", "id": 1, "content": "Done. ->-> 1,1"}
        more = {"role": "user", "id": 2, "content": "Thanks. ->-> 1,2"}
        batch = {"batch_number": 1, "time_anchor": None, "turns": [[asked, told], [more]]}
        _write(tmp_path / name / "chat.json", [batch])
        probes = {
            "abstention": [{"question": "Unknown?", "ideal_response": "not said"}],
            "knowledge_update": [{"question": "When?", "answer": 5, "source_chat_ids": {"old": [1], "new": [2, 99]}}],
        }
        _write(tmp_path / name / "probing_questions" / "probing_questions.json", probes)
    return tmp_path


def test_beam_chats_are_ordered_by_number(beam: Path) -> None:
    assert [group.name for group in load_beam(beam).groups] == ["2", "10"]


def test_a_beam_batch_is_one_dated_session_of_both_roles_without_markers(beam: Path) -> None:
    entries = load_beam(beam).groups[0].entries
    assert [(entry.source, entry.role, entry.text) for entry in entries] == [
        ("0", "user", "Plan it."),
        ("1", "assistant", "Done."),
        ("2", "user", "Thanks."),
    ]
    assert {(entry.session, entry.at) for entry in entries} == {("batch_1", "2024-03-15")}


def test_beam_abstention_has_no_answer_and_other_abilities_have_flat_gold(beam: Path) -> None:
    group = load_beam(beam).groups[0]
    assert [(question.category, question.gold) for question in group.scored] == [("knowledge_update", ("1", "2"))]
    assert [question.category for question in group.unanswerable] == ["abstention"]


def test_a_single_beam_chat_is_a_dataset_too(beam: Path) -> None:
    assert [group.name for group in load_beam(beam / "10").groups] == ["10"]


@pytest.fixture
def metatool(tmp_path: Path) -> Path:
    _write(tmp_path / "plugin_des.json", {"Weather": "Tells the weather.", "PDF&URL": "Reads pages."})
    rows = 'Query,Tool\n"Rain, tomorrow?",Weather\nRead this,PDF&URL\nGone?,Missing\n'
    (tmp_path / "single_tool.csv").write_text(rows + "Again?,Weather\n" * 120, encoding="utf-8")
    _write(tmp_path / "multi_tool.json", [{"query": "Both", "tool": ["Weather", "PDF&URL"]}])
    return tmp_path


def test_metatool_is_a_catalogue_of_named_descriptions(metatool: Path) -> None:
    group = load_metatool(metatool).groups[0]
    assert group.entries[0] == Entry(source="Weather", text="Weather: Tells the weather.", kind="item")
    assert (group.questions[0].text, group.questions[0].gold) == ("Rain, tomorrow?", ("Weather",))
    assert len(group.questions) - len(group.scored) == 1


def test_metatool_limits_count_hundreds_of_requests(metatool: Path) -> None:
    assert len(load_metatool(metatool, limit=1).groups[0].questions) == 100


def test_metatool_can_ask_for_several_tools(metatool: Path) -> None:
    assert load_metatool(metatool, several=True).groups[0].scored[0].gold == ("Weather", "PDF&URL")


def test_xquad_asks_each_language_of_each_language(tmp_path: Path) -> None:
    for language in ("en", "de"):
        qas = [{"id": "1", "question": f"{language}?", "answers": [{"text": "308", "answer_start": 0}]}]
        article = {"title": "T", "paragraphs": [{"context": f"{language} text", "qas": qas}]}
        _write(tmp_path / f"xquad.{language}.json", {"data": [article, article]})
    dataset = load_xquad(tmp_path, limit=1)
    assert [(group.name, [entry.text for entry in group.entries]) for group in dataset.groups] == [
        ("en", ["en text"]),
        ("de", ["de text"]),
    ]
    assert [(question.text, question.category) for question in dataset.groups[1].questions] == [
        ("en?", "en→de"),
        ("de?", "de→de"),
    ]


@pytest.fixture
def lifebench(tmp_path: Path) -> Path:
    said = {"contactName": "Bo", "message_content": "See you at eight", "datetime": "2025-01-04 08:10:00"}
    chat = {"turn 1": {"user": {"content": "Where is it?"}, "assistant": {"content": "In the hall."}}}
    photo = {"caption": "A pipe", "imageTag": ["pipe", "crack"], "ocrText": "none", "location": {"poi": "Balcony"}}
    evidence = [
        {"type": "sms", "id": 2},
        {"type": "sms", "id": 7},
        {"type": "push", "id": 1},
        {"type": "photo", "id": 1},
    ]
    asked = {"question": "When?", "answer": "Eight", "question_type": "Multi-hop reasoning", "evidence": evidence}
    never = {"question": "Why?", "answer": "Unable to answer", "question_type": "Unanswerable"}
    for user in ("ann", "bo"):
        data = tmp_path / user / "phone_data"
        _write(data / "sms.json", [{**said, "phone_id": 1}, {**said, "phone_id": 2}])
        _write(data / "agent_chat.json", [{"phone_id": 1, "date": "2025-01-05", "conversation": chat}])
        _write(data / "photo.json", [{**photo, "phone_id": 1, "datetime": "2025-01-06 09:00:00"}])
        _write(data / "fitness_health.json", [{"phone_id": 1, "summarized_info": "by a model"}])
        _write(tmp_path / user / "QA" / "QA_clean.json", [asked, never])
    return tmp_path


def test_lifebench_reads_traces_with_their_time_and_leaves_out_what_a_model_wrote(lifebench: Path) -> None:
    group = load_lifebench(lifebench / "ann").groups[0]
    assert [(entry.source, entry.at, entry.text) for entry in group.entries] == [
        ("sms/1", "2025-01-04T08:10:00Z", "sms, 2025-01-04 08:10:00: Bo. See you at eight"),
        ("photo/1", "2025-01-06T09:00:00Z", "photo, 2025-01-06 09:00:00: A pipe. pipe, crack. Balcony"),
        ("agent_chat/1", "2025-01-05", "agent chat, 2025-01-05: Where is it?. In the hall."),
    ]


def test_lifebench_counts_out_evidence_that_is_not_there_and_takes_the_same_trace_once(lifebench: Path) -> None:
    dataset = load_lifebench(lifebench)
    group = dataset.groups[0]
    assert group.scored[0].gold == ("sms/1", "photo/1")
    assert [question.text for question in group.unanswerable] == ["Why?"]
    assert dataset.notes == ("4 pieces of evidence name traces that are not there and are not counted",)
    assert [question.id for question in group.foreign] == ["bo/0"]


def test_lifebench_in_another_structure_is_refused(lifebench: Path) -> None:
    _write(lifebench / "ann" / "phone_data" / "sms.json", [{"phone_id": 1}])
    with pytest.raises(InvalidInput, match="another structure"):
        load_lifebench(lifebench)


def test_the_shipped_set_is_complete_and_its_gold_exists() -> None:
    (group,) = load_multilingual().groups
    sources = [entry.source for entry in group.entries]
    asked = {question.category for question in group.questions}
    tags = {tag for question in group.questions for tag in question.tags}
    assert len(sources) == len(set(sources)) == 60
    assert len(group.scored) == len(group.questions) >= 60
    assert {gold for question in group.questions for gold in question.gold} <= set(sources)
    assert {f"{a}→{b}" for a in ("en", "de", "uk") for b in ("en", "de", "uk")} <= asked
    assert tags == {"inflection", "compound", "umlaut", "ghe", "paraphrase", "name"}
    assert len(group.foreign) == 12


Loader = Any


@pytest.mark.parametrize("load", [load_locomo, load_beam, load_lifebench, load_metatool, load_xquad])
def test_a_path_that_leads_nowhere_is_named_with_what_was_expected(load: Loader, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"nowhere.*expected"):
        load(tmp_path / "nowhere")


@pytest.mark.parametrize("content", ["{}", "[]", "[1]", '[{"sample_id": 1}]', "not json", '"text"', "null"])
def test_another_file_is_refused_by_locomo(content: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InvalidInput, match="expected"):
        load_locomo(path)


def test_other_structures_are_refused_in_every_file(beam: Path, metatool: Path) -> None:
    _write(beam / "2" / "chat.json", {"turns": 1})
    _write(metatool / "plugin_des.json", [1])
    (metatool / "single_tool.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="another structure"):
        load_beam(beam)
    with pytest.raises(InvalidInput, match="another structure"):
        load_metatool(metatool)
    _write(metatool / "plugin_des.json", {})
    with pytest.raises(InvalidInput, match="no column 'Query'"):
        load_metatool(metatool)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "binary.json"
    path.write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(InvalidInput, match="not utf-8 text"):
        load_locomo(path)


def test_a_dataset_without_limit_is_whole() -> None:
    dataset = Dataset(name="d", groups=())
    assert dataset.first(None) is dataset
