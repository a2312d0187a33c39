"""The commands about keeping, as a person types them."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from retentia.cli.main import cli
from retentia.errors import QuotaExceeded


@pytest.fixture
def store(tmp_path: Path) -> str:
    path = str(tmp_path / "memory.db")
    for text in ("Write to anna@example.org", "I like tea"):
        assert said(path, "remember", text).exit_code == 0
    return path


def said(store: str, *arguments: str) -> Result:
    return CliRunner().invoke(cli, [arguments[0], "--store", store, "--embedder", "none", *arguments[1:]])


def answered(store: str, *arguments: str) -> Any:
    result = said(store, *arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_personal_counts_by_kind_and_names_the_records(store: str) -> None:
    assert answered(store, "personal") == {"email": {"spans": 1, "records": 1}}
    (record_id,) = answered(store, "personal", "--ids", "email")
    assert said(store, "personal", "--ids", "email").stdout.strip() == record_id
    assert said(store, "personal", "--ids", "phone").stdout.strip() == "none"
    assert "email" in said(store, "personal").stdout


def test_keep_moves_the_end_of_one_record(store: str) -> None:
    (record_id,) = answered(store, "personal", "--ids", "email")
    assert "kept until 2099-01-01" in said(store, "keep", record_id, "--until", "2099").stdout
    assert "kept for ever" in said(store, "keep", record_id, "--forever").stdout
    assert answered(store, "keep", record_id, "--forever")["expires_at"] is None


def test_review_lists_nothing_before_its_time(store: str) -> None:
    assert answered(store, "review") == []
    assert said(store, "review").exit_code == 0


def test_retention_shows_sets_and_resets_the_schedule(store: str, tmp_path: Path) -> None:
    shipped = answered(store, "retention")
    file = tmp_path / "own.toml"
    file.write_text('[[rule]]\nname = "all"\nexpires_after_months = 3\n', "utf-8")
    own = answered(store, "retention", "--set", str(file))
    assert own == {"rule": [{"name": "all", "expires_after_months": 3}]}
    assert "3 months" in said(store, "retention").stdout
    assert answered(store, "policy")[0]["retention"] == "erased after 3 months"
    assert answered(store, "retention", "--reset") == shipped
    assert said(store, "retention", "--reset", "--set", str(file)).exit_code == 2
    file.write_text("[[rule", "utf-8")
    assert said(store, "retention", "--set", str(file)).exit_code == 1


def test_quota_shows_sets_and_lifts_it(store: str) -> None:
    assert "no limit" in said(store, "quota").stdout
    assert answered(store, "quota", "--max-records", "2") == {"max_records": 2, "max_bytes": None}
    refused = said(store, "remember", "one too many")
    assert isinstance(refused.exception, QuotaExceeded)
    assert answered(store, "quota", "--none") == {"max_records": None, "max_bytes": None}
    assert said(store, "remember", "one more").exit_code == 0


def test_growth_adds_up_what_each_user_has(store: str) -> None:
    assert said(store, "remember", "of someone else", "--user", "bo").exit_code == 0
    (mine,) = answered(store, "growth")
    assert (mine["user"], mine["records"], mine["bytes"]) == ("me", 2, 35)
    assert {one["user"] for one in answered(store, "growth", "--all-users")} == {"me", "bo"}


def test_policy_says_for_each_layer_what_a_person_may_ask(store: str) -> None:
    layers = answered(store, "policy")
    asked = {"name", "purpose", "enters", "readers", "source", "correction", "retention", "deletion"}
    assert all(set(layer) == asked and all(layer.values()) for layer in layers)
    assert "retention: erased after 12 months" in said(store, "policy").stdout


def test_the_measure_of_personal_data_is_printed() -> None:
    result = CliRunner().invoke(cli, ["eval", "personal", "--json"])
    scores = json.loads(result.stdout)
    assert scores["all"]["precision"] >= 0.98
    assert "232 sentences" in CliRunner().invoke(cli, ["eval", "personal"]).stdout
