import json
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from promised_figures import PROMISED
from retentia.errors import InvalidInput
from retentia.evals import Answer, Dataset, Entry, Found, Group, Question, Run, run
from retentia.evals.dataset import ask_neighbours
from retentia.evals.reports import print_table, summarise, write_details
from retentia.evals.runs import judge


class WordMemory:
    """A subject that ranks entries by shared words; it counts what it was asked."""

    def __init__(self) -> None:
        self.remembered: list[str] = []
        self.asked: list[tuple[str, int]] = []

    def ingest(self, group: Group) -> None:
        self.remembered.append(group.name)

    def ask(self, group: Group, question: str, *, limit: int) -> Answer:
        self.asked.append((question, limit))
        words = set(question.split())
        shared = {entry.source: len(words & set(entry.text.split())) for entry in group.entries}
        ranked = sorted(shared, key=lambda source: -shared[source])[:limit]
        found = tuple(
            Found(source=source, tokens=400, score=shared[source], signals={"lexical": shared[source], "dense": 0.0})
            for source in ranked
        )
        relevance = max(shared.values()) / len(words)
        return Answer(found=found, relevance=relevance, search_ms=float(len(self.asked)), threshold=0.6)

    def shown(self, group: Group, question: str, *, budget: int) -> tuple[str, ...]:
        return tuple(found.source for found in self.ask(group, question, limit=budget // 1300).found)

    def embedding_ms(self, questions: Sequence[str]) -> list[float]:
        return [2.0 for _ in questions]


def _dataset() -> Dataset:
    cats = Group(
        name="cats",
        entries=(Entry(source="a", text="the cat sleeps"), Entry(source="b", text="a dog barks at night")),
        questions=(
            Question(id="1", text="who sleeps", gold=("a",), category="one", tags=("verb",)),
            Question(id="2", text="what barks at whom", gold=("b", "a"), category="two"),
            Question(id="3", text="who purrs", category="trap", answerable=False),
            Question(id="4", text="uncited", category="one"),
        ),
    )
    cars = Group(
        name="cars",
        entries=(Entry(source="a", text="engines roar"),),
        questions=(Question(id="5", text="do engines roar", gold=("a",), category="one"),),
    )
    return Dataset(name="pets", groups=ask_neighbours([cats, cars]))


def _run() -> Run:
    return run(_dataset(), WordMemory())


def test_every_group_is_remembered_before_the_first_question() -> None:
    subject = WordMemory()
    run(_dataset(), subject)
    assert subject.remembered == ["cats", "cars"]


def test_own_foreign_and_unsaid_questions_are_told_apart_and_only_own_ones_scored() -> None:
    outcomes = _run().outcomes
    assert [(outcome.group, outcome.question.id, outcome.asked) for outcome in outcomes] == [
        ("cats", "1", "own"),
        ("cats", "2", "own"),
        ("cats", "3", "unsaid"),
        ("cats", "5", "foreign"),
        ("cars", "5", "own"),
        ("cars", "1", "foreign"),
        ("cars", "2", "foreign"),
    ]
    assert [bool(outcome.scores) for outcome in outcomes] == [True, True, False, False, True, False, False]


def test_the_first_search_of_a_group_is_not_timed() -> None:
    assert min(outcome.search_ms for outcome in _run().outcomes) == 2.0


def test_progress_is_told_to_the_end() -> None:
    told: list[tuple[str, int, int]] = []
    run(_dataset(), WordMemory(), progress=lambda *stage: told.append(stage))
    assert ("remember", 2, 2) in told
    assert told[-1] == ("ask", 7, 7)


def test_a_ranking_is_judged_at_every_depth_and_budget() -> None:
    found = tuple(Found(source=source, tokens=400, score=1.0, signals={}) for source in "xaby")
    scores = judge(Answer(found=found, relevance=1.0, search_ms=0.0), ("a", "b"))
    assert scores["recall_at_1"] == 0.0
    assert scores["recall_at_5"] == 1.0
    assert scores["mrr"] == 0.5
    assert (scores["gold_in_512_tokens"], scores["gold_in_1024_tokens"], scores["gold_in_1300_tokens"]) == (0, 0.5, 1.0)


def test_a_summary_has_every_promised_figure() -> None:
    summary = summarise(_run())
    assert summary.keys() >= set(PROMISED)
    assert (summary["suite"], summary["questions"], summary["recall_at_5"]) == ("pets", 3, 1.0)
    assert summary["abstention_auroc"] == 1.0
    assert summary["embed_p50_ms"] == 2.0
    assert "gold_in_2048_tokens" in summary


def test_of_chats_the_prompt_is_judged_too_and_apart_where_one_source_answers() -> None:
    summary = summarise(run(replace(_dataset(), is_of_chats=True), WordMemory()))
    assert summary["gold_in_context_1300"] == pytest.approx((1 + 0.5 + 1) / 3, abs=1e-3)
    assert summary["single_gold_in_context_1300"] == 1.0
    assert "gold_in_context_1300" not in summarise(_run())
    out = StringIO()
    print_table(summary, Console(file=out, width=140))
    assert "in a prompt of 1,300 tokens: 0.833 of the gold, 1.000 where one source answers" in out.getvalue()


def test_a_summary_says_how_many_questions_pass_the_cutoff() -> None:
    summary = summarise(_run())
    assert summary["own_answered"] == pytest.approx(1 / 3, abs=1e-3)
    assert summary["foreign_answered"] == 0.0


def test_a_summary_tells_categories_and_tags_apart() -> None:
    summary = summarise(_run())
    assert {name: row["questions"] for name, row in summary["by_category"].items()} == {"one": 2, "two": 1}
    assert summary["by_tag"]["verb"]["recall_at_1"] == 1.0


def test_a_run_without_questions_has_no_figures_and_no_error() -> None:
    summary = summarise(Run(suite="empty", outcomes=(), embed_ms=()))
    assert summary["questions"] == 0
    assert summary["recall_at_5"] is None
    assert summary["abstention_auroc"] is None
    json.dumps(summary)


def test_details_have_one_line_a_question_with_ranks_and_signals(tmp_path: Path) -> None:
    done = _run()
    path = write_details(done, summarise(done), tmp_path / "out")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(lines) == len(done.outcomes)
    assert (lines[0]["id"], lines[0]["gold"], lines[0]["found"][0]["source"]) == ("1", ["a"], "a")
    assert lines[0]["found"][0]["signals"] == {"lexical": 1, "dense": 0.0}
    assert json.loads((tmp_path / "out" / "pets.json").read_text(encoding="utf-8"))["questions"] == 3


def test_details_that_cannot_be_written_name_the_folder(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput, match="another --out"):
        write_details(_run(), {}, blocked)


def test_the_table_shows_each_category_and_the_whole() -> None:
    out = StringIO()
    print_table(summarise(_run()), Console(file=out, width=140))
    text = out.getvalue()
    assert "pets: 3 questions" in text
    for shown in ("one", "two", "(verb)", "all", "abstention: AUROC 1.000", "never said", "p50"):
        assert shown in text
