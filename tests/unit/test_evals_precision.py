"""How answers are judged, on small cases and on the real files where they are there."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from retentia.cli.main import cli
from retentia.errors import InvalidInput
from retentia.evals.loaders import load_precision
from retentia.evals.loaders.precisionmembench import Case, Expected, SeedBelief
from retentia.evals.precision import figures, judge, run_precision

DATA = Path(__file__).parents[3] / "shared" / "data" / "precisionmembench"
needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the benchmark data folder ../shared/data is absent")


def _belief(name: str, **changes: object) -> SeedBelief:
    made = SeedBelief(
        id=name, user="u", type="preference", names=(name,), content=name, domain="d", is_pinned=False, is_past=False,
        linked=(),
    )  # fmt: skip
    return replace(made, **changes)  # type: ignore[arg-type]


BELIEFS = [
    _belief("a"),
    _belief("b"),
    _belief("old", is_past=True),
    _belief("other", user="someone else"),
    _belief("elsewhere", domain="e"),
    _belief("everywhere", domain="user:universal", content="Short answers"),
]


def _case(**expected: Expected) -> Case:
    return Case(id="c", category="", user="u", domain="d", question="?", budget=None, expected=expected)  # type: ignore[arg-type]


def _expect(include: str = "", exclude: str = "", only: str | None = None, texts: tuple[str, ...] = ()) -> Expected:
    allowed = None if only is None else frozenset(only.split())
    return Expected(
        include=frozenset(include.split()) | (allowed or frozenset()),
        exclude=frozenset(exclude.split()),
        only=allowed,
        texts=texts,
    )


def test_what_is_returned_beyond_what_may_be_there_costs_precision() -> None:
    case = _case(relevant=_expect(only="a"))
    result = judge(case, {"relevant": ["a", "b"]}, BELIEFS)
    assert (result.right, result.surplus, result.missing) == (1, ("b",), ())
    assert figures([result])["precision"] == 0.5


def test_what_is_missing_costs_recall_and_what_is_pinned_is_there() -> None:
    case = _case(relevant=_expect(only="a b"), prelude=_expect(texts=("short", "long")))
    result = judge(case, {"prelude": ["everywhere"], "pinned": ["a"], "relevant": []}, BELIEFS)
    assert result.missing == ("b", "text 'long'")
    assert figures([result])["must_include_recall"] == 0.5


def test_what_is_over_or_excluded_must_not_come_back() -> None:
    case = _case(pinned=_expect(exclude="a"))
    result = judge(case, {"pinned": ["a"], "relevant": ["old"]}, BELIEFS)
    assert result.forbidden == ("a", "old")
    assert judge(case, {"pinned": [], "relevant": ["a"]}, BELIEFS).forbidden == ()


def test_what_is_of_another_user_or_domain_is_a_leak() -> None:
    result = judge(_case(), {"relevant": ["other", "elsewhere", "everywhere", "a"]}, BELIEFS)
    assert result.leaked == ("elsewhere", "other")


def test_a_folder_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="retrieval_cases"):
        load_precision(tmp_path)
    (tmp_path / "retrieval_cases.json").write_text(json.dumps([{"caseId": "x"}]))
    (tmp_path / "beliefs.seed.json").write_text("[]")
    with pytest.raises(InvalidInput):
        load_precision(tmp_path)


@needs_data
def test_the_files_hold_35_beliefs_and_39_cases() -> None:
    dataset = load_precision(DATA)
    assert (len(dataset.beliefs), len(dataset.cases)) == (35, 39)
    assert sum(belief.is_past for belief in dataset.beliefs) == 6


@needs_data
def test_answers_hold_what_they_must_and_nothing_that_they_must_not() -> None:
    told = figures(run_precision(load_precision(DATA)))
    assert (told["must_not_returned"], told["leaks"]) == (0, 0)
    assert told["must_include_recall"] >= 0.9
    assert told["precision"] >= 0.9


def test_the_command_ends_with_one_json_object_and_names_what_went_wrong(tmp_path: Path) -> None:
    beliefs = [
        {"_id": "r", "canonical_name": "redis_cache", "aliases": ["Redis"], "content": "Redis is a cache.", **_ALWAYS},
        {"_id": "b", "canonical_name": "linting", "aliases": ["Biome"], "content": "Uses Biome.", **_ALWAYS},
    ]
    cases = [
        {"caseId": "one", "query": "redis?", "expect": {"relevantBeliefs": {"shouldOnlyInclude": ["r"]}}, **_ASKED},
        {"caseId": "two", "query": "biome?", "expect": {"relevantBeliefs": {"shouldOnlyInclude": []}}, **_ASKED},
    ]
    (tmp_path / "beliefs.seed.json").write_text(json.dumps(beliefs))
    (tmp_path / "retrieval_cases.json").write_text(json.dumps(cases))
    done = CliRunner().invoke(cli, ["eval", "precision", str(tmp_path), "--embedder", "none", "--json"])
    told = json.loads(done.stdout.splitlines()[-1])
    assert (told["precision"], told["must_include_recall"], told["must_not_returned"]) == (0.5, 1.0, 0)
    assert "two: surplus b" in done.stderr


_ASKED = {"category": "", "scope": ["domain:code"]}
_ALWAYS = {
    "user_id": "u",
    "type": "preference",
    "scope": ["domain:code"],
    "epistemic_status": "active",
    "pinned": False,
    "resolved_at": None,
}
