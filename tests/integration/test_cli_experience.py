"""The commands of experience, as a person uses them: record, look, ask, import again, export."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from retentia.cli.main import cli
from retentia.errors import InvalidInput

DATA = Path(__file__).parents[2].parent / "shared" / "data" / "tau_bench" / "airline_dev.json"


class Shell:
    def __init__(self, store: Path) -> None:
        self._store = store

    def __call__(self, *arguments: str, **more: Any) -> Result:
        given = ["experience", *arguments, "--store", str(self._store), "--embedder", "use"]
        return CliRunner().invoke(cli, given, catch_exceptions=False, **more)

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "--json").stdout)


@pytest.fixture
def run(tmp_path: Path) -> Shell:
    shell = Shell(tmp_path / "memory.db")
    solved = ["--outcome", "success", "--reward", "8", "--reward-range", "0", "10", "--category", "debugging"]
    shell(
        "record", "Fix the flaky login test", *solved, "--solution", "-", "--tests", "7", "7", input="Freeze the clock"
    )
    failed = ["--outcome", "failure", "--reward", "0", "--category", "debugging", "--feedback", "still flaky"]
    shell("record", "Fix the login test that is flaky", *failed, "--strategy", "exploratory")
    return shell


def test_what_is_recorded_is_shown_whole(run: Shell) -> None:
    newest = run.json("list")[0]["id"]
    oldest = run.json("list")[-1]["id"]
    assert "still flaky" in run("show", newest).output
    shown = run("show", oldest).output
    assert "reward 0.8" in shown
    assert "7 of 7 tests passed" in shown
    assert "Freeze the clock" in shown


def test_a_task_brings_to_mind_what_worked_and_what_to_avoid(run: Shell) -> None:
    assert "Fix the flaky login test" in run("recall", "the login test is flaky").output
    assert [one["experience"]["outcome"] for one in run.json("recall", "login test", "--outcome", "failure")] == [
        "failure"
    ]
    prompt = run("replay", "Fix the flaky login test").output
    assert "Freeze the clock" in prompt
    assert "AVOID" in prompt
    assert "nothing of that kind" in run("recall", "x", "--category", "testing").output


def test_a_strategy_is_chosen_with_its_reason(run: Shell) -> None:
    assert run("strategy", "Fix the login", "--category", "testing", "--complexity", "0.1").output.startswith("expl")
    assert run.json("skills")["debugging"]["count"] == 2


def test_the_curve_is_drawn_as_text_and_as_pictures(run: Shell, tmp_path: Path) -> None:
    svg, png = tmp_path / "curve.svg", tmp_path / "curve.png"
    output = run("curve", "--svg", str(svg), "--png", str(png)).output
    assert "reward" in output
    assert svg.read_text("utf-8").startswith("<svg")
    assert png.read_bytes().startswith(b"\x89PNG")


def test_an_export_is_imported_once_and_a_bad_line_is_named(run: Shell, tmp_path: Path) -> None:
    file = tmp_path / "all.jsonl"
    assert "2 written" in run("export", str(file)).output
    keyed = [{**json.loads(line), "id": f"e{place}"} for place, line in enumerate(file.read_text("utf-8").splitlines())]
    file.write_text("\n".join([*map(json.dumps, keyed), "{"]), "utf-8")
    other = Shell(tmp_path / "other.db")
    assert other("import", str(file)).output.startswith("2 new, 0 known already, 1 left out")
    again = other("import", str(file))
    assert again.output.startswith("0 new, 2 known already, 1 left out")
    assert "line 3: no JSON" in again.output


def test_a_tenant_has_categories_and_strategies_of_its_own(run: Shell, tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('categories = ["support"]\n[strategies]\ntest_first = "Write the test first."\n', "utf-8")
    assert "support" in run("rules", "--set", str(rules)).output
    kept = run("record", "Answer the mail", "--outcome", "success", "--reward", "1", "--category", "support")
    assert kept.output.startswith("kept: ")
    assert "none of your own" in run("rules", "--reset").output


def test_what_cannot_be_true_is_refused_in_words(run: Shell) -> None:
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        run("record", "x", "--outcome", "success", "--reward", "7")


@pytest.mark.skipif(not DATA.is_file(), reason="the benchmark data is not here")
def test_trajectories_are_imported_and_evaluated(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "memory.db")
    assert shell("import", str(DATA)).output.startswith("100 new")
    result = CliRunner().invoke(cli, ["eval", "replay", str(DATA), "--json"], catch_exceptions=False)
    told = json.loads(result.stdout.splitlines()[-1])
    assert told["same_task_at_1"] >= 0.9
    assert told["success_rate"] > told["base_rate"]


@pytest.mark.parametrize("days", ["nan", "inf", "1e300"])
def test_a_half_life_that_is_no_span_of_time_is_refused_in_words(run: Shell, days: str) -> None:
    with pytest.raises(InvalidInput, match="--half-life"):
        run("recall", "x", "--half-life", days)


def test_a_picture_that_cannot_be_written_and_an_id_that_is_none_are_told_in_words(run: Shell, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be written"):
        run("curve", "--svg", str(tmp_path / "no" / "such.svg"))
    with pytest.raises(InvalidInput, match="cannot be read"):
        run("rules", "--set", str(tmp_path / "none.toml"))
    with pytest.raises(InvalidInput, match="is no id"):
        run("show", "nope")
    assert len(run.json("list", "--limit", "99999999999999999999")) == 2
