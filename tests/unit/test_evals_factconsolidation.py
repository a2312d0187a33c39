import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from retentia.cli.main import cli
from retentia.errors import InvalidInput
from retentia.evals.factconsolidation import ask_factconsolidation, figures
from retentia.evals.loaders import load_factconsolidation

DATA = Path(__file__).parents[3] / "shared" / "data" / "factconsolidation"
FACTS = """Here is a list of facts:
0. The capital of Ruritania is Strelsau.
1. Rudolf is a citizen of Ruritania.
2. Rudolf is married to Flavia.
3. The capital of Ruritania is Zenda.
4. Nothing is stated here, is it?"""
QUESTIONS = {
    "sh_6k": (["What is the capital of Ruritania?", "Who is Rudolf married to?"], [["Zenda"], ["Antoinette"]]),
    "mh_6k": (
        ["What is the capital of the country that the spouse of Flavia is a citizen of?", "Who is the spouse of Zoe?"],
        [["Zenda"], ["Adam"]],
    ),
}


def told(stage: str, done: int, total: int) -> None:
    assert stage
    assert 0 <= done <= total


@pytest.fixture
def file(tmp_path: Path) -> Path:
    sets = [
        {"name": f"factconsolidation_{name}", "context": FACTS, "questions": asked, "answers": answers}
        for name, (asked, answers) in QUESTIONS.items()
    ]
    path = tmp_path / "facts.json"
    path.write_text(json.dumps(sets), encoding="utf-8")
    return path


def test_sets_with_the_same_facts_are_read_as_one(file: Path) -> None:
    (one,) = load_factconsolidation(file)
    assert (one.size, len(one.facts), one.facts[3]) == ("6k", 5, "The capital of Ruritania is Zenda.")
    assert {name: len(asked) for name, asked in one.questions.items()} == {"sh_6k": 2, "mh_6k": 2}
    assert load_factconsolidation(file.parent, limit=1)[0].questions["sh_6k"][0].answers == ("Zenda",)


def test_the_last_fact_is_the_answer_and_a_chain_is_followed(file: Path) -> None:
    done = ask_factconsolidation(load_factconsolidation(file), progress=told)
    counts = {one.name: (one.questions, one.right, one.unanswered, one.outdated, one.unread) for one in done}
    assert counts == {"sh_6k": (2, 1, 0, 0, 1), "mh_6k": (2, 1, 1, 0, 1)}
    assert {name: figures(done)[name] for name in ("sh_6k", "mh_6k", "unread")} == {
        "sh_6k": 0.5,
        "mh_6k": 0.5,
        "unread": 1,
    }


def test_the_last_line_is_one_object_with_the_share_of_each_set(file: Path) -> None:
    result = CliRunner().invoke(cli, ["eval", "factconsolidation", str(file), "--json"])
    assert result.exit_code == 0, result.output
    last = json.loads(result.stdout.splitlines()[-1])
    assert (last["sh_6k"], last["mh_6k"], last["outdated"]) == (0.5, 0.5, 0)


@pytest.mark.parametrize("text", ["{}", "[]", '[{"name": "x_sh_6k"}]', "nothing"])
def test_a_file_of_another_form_is_refused_with_what_was_expected(tmp_path: Path, text: str) -> None:
    path = tmp_path / "facts.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="FactConsolidation"):
        load_factconsolidation(path)


def test_a_folder_needs_exactly_one_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="0 JSON files"):
        load_factconsolidation(tmp_path)


@pytest.mark.skipif(not DATA.is_dir(), reason="the benchmark data folder ../shared/data is absent")
def test_single_facts_and_chains_of_the_small_set_are_answered_as_promised() -> None:
    small = [one for one in load_factconsolidation(DATA) if one.size == "6k"]
    done = {one.name: one for one in ask_factconsolidation(small, progress=told)}
    assert done["sh_6k"].share >= 0.95
    assert done["mh_6k"].share >= 0.60
    assert done["sh_6k"].outdated == 0
