"""Forgetting, verifying, the ledger and backups on the command line: texts for people, JSON, exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from retentia import Memory, Scope

ME = Scope("local", "me")
SECRET = "Zwetschgenkuchenrezept"


def run(*arguments: str, folder: Path, says: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "retentia", *arguments],
        env=os.environ | {"RETENTIA_EMBEDDER": "none"},
        input=says,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )


def told(*arguments: str, folder: Path, code: int = 0) -> str:
    done = run(*arguments, folder=folder)
    assert done.returncode == code, done.stderr
    return done.stdout


def answer(*arguments: str, folder: Path, code: int = 0) -> Any:
    return json.loads(told(*arguments, "--json", folder=folder, code=code))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a store in which four things are remembered, two of which are about the secret."""
    with Memory.open(tmp_path / "memory.db", embedder=None, worker=False) as memory:
        said = [f"The {SECRET} is in the drawer", "The boiler is broken", f"Nobody knows the {SECRET}"]
        memory.add([{"role": "user", "content": text, "key": f"k{at}"} for at, text in enumerate(said)], scope=ME)
        memory.remember("Anna likes rye bread", "preference", scope=ME, metadata={"topic": "food"})
    return tmp_path


def files_with(folder: Path, text: str) -> set[str]:
    return {file.name for file in folder.iterdir() if file.is_file() and text.encode() in file.read_bytes()}


def test_forgetting_shows_asks_forgets_and_is_verified(folder: Path) -> None:
    asked = ("forget", f"forget what I said about the {SECRET}")
    shown = told(*asked, "--dry-run", folder=folder)
    assert shown.startswith("would forget: 2 message\nsuch as:\n")
    assert f"The {SECRET} is in the drawer" in shown
    assert set(answer(*asked, "--dry-run", folder=folder)["counts"]) == {"message"}
    for says in ("n\n", ""):  # no, and nobody there to ask
        refused = run(*asked, "--receipt", "receipt.json", folder=folder, says=says)
        assert refused.returncode != 0
        assert "forget these 2 for good?" in refused.stderr
        assert "Traceback" not in refused.stderr
        assert not (folder / "receipt.json").exists()
    done = run(*asked, "--receipt", "receipt.json", folder=folder, says="y\n")
    assert done.returncode == 0
    assert done.stdout.startswith("erased: 2 passage")
    assert "2 message" in done.stdout
    assert files_with(folder, SECRET) == set()
    verified = told("verify-erasure", "receipt.json", "--text", SECRET, folder=folder)
    assert verified == "clean: 2 records looked for\n"
    report = answer("verify-erasure", "receipt.json", folder=folder)
    assert (report["is_clean"], report["is_pending"], report["in_ledger"], report["records"]) == (True, False, True, 2)
    assert told(*asked, folder=folder) == "would forget: nothing\n"


def test_yes_asks_nobody_and_json_is_all_that_is_printed(folder: Path) -> None:
    receipt = answer("forget", "--about", SECRET, "--yes", "--receipt", "r.json", folder=folder)
    assert receipt["removed"]["message"] == 2
    assert (receipt["tombstones"], receipt["ledger_seq"], receipt["pending"]) == (4, 1, "")
    kept = json.loads((folder / "r.json").read_text("utf-8"))
    assert kept == {"tenant": "local", **receipt}


@pytest.mark.parametrize(
    ("options", "counts"),
    [
        (("--last", "1h"), {"message": 3, "preference": 1}),
        (("--kind", "preference"), {"preference": 1}),
        (("--where", '{"topic": "food"}'), {"preference": 1}),
        (("--session", "default"), {"message": 3}),
        (("--since", "2020", "--until", "2021"), {}),
        (("--everything",), {"message": 3, "preference": 1}),
        (("vergiss die letzte Stunde",), {"message": 3, "preference": 1}),
        (("--everything", "--user", "somebody else"), {}),
        (("--everything", "--agent", "bot"), {}),
    ],
)
def test_every_way_to_say_what_goes(folder: Path, options: tuple[str, ...], counts: dict[str, int]) -> None:
    assert answer("forget", *options, "--dry-run", folder=folder)["counts"] == counts


def test_a_person_is_forgotten_in_every_space(folder: Path) -> None:
    told("remember", f"the {SECRET} at work", "--space", "work", folder=folder)
    assert "forget all of 'me' for good?" in run("forget-person", folder=folder, says="n\n").stderr
    assert "5 records in 2 scopes" in told("forget-person", "--yes", folder=folder)
    assert files_with(folder, SECRET) == set()


def test_what_is_left_is_told_with_the_exit_code(folder: Path) -> None:
    (record,) = [one for one in answer("list", folder=folder)["records"] if "boiler" in one["text"]]
    (folder / "r.json").write_text(json.dumps({"tenant": "local", "id": "unknown", "records": [record["id"]]}), "utf-8")
    said = told("verify-erasure", "r.json", "--text", "boiler", folder=folder, code=1)
    assert "message: 1 rows with an id of an erased record" in said
    assert "memory.db: " in said
    assert said.endswith("NOT clean: 1 records looked for\n")
    told("forget", "--id", record["id"], "--yes", folder=folder)
    said = told("verify-erasure", "r.json", folder=folder, code=1)
    assert "the ledger does not name this erasure" in said
    assert answer("verify-erasure", "r.json", folder=folder, code=1)["in_ledger"] is False


def test_a_backup_goes_round_and_brings_nothing_back(folder: Path) -> None:
    made = told("backup", "create", "ein Ort für 北京.zip", "--days", "7", folder=folder)
    assert made.startswith("wrote ein Ort für 北京.zip: made ")
    assert answer("backup", "create", "second.zip", folder=folder)["ledger_seq"] == 2
    receipt = answer("forget", "--about", SECRET, "--yes", folder=folder)
    assert receipt["backup_until"] > receipt["at"] + 29 * 86_400_000_000
    assert told("backup", "drill", "second.zip", folder=folder).startswith("could be restored: made ")
    assert answer("backup", "drill", "second.zip", folder=folder)["problems"] == []
    (folder / "memory.db").rename(folder / "lost.db")
    for left in folder.glob("memory.db-*"):
        left.unlink()
    said = told("backup", "restore", "ein Ort für 北京.zip", folder=folder)
    assert said.startswith("restored memory.db: made ")
    assert said.endswith("erased again: 2 records\n")
    assert answer("forget", "--about", SECRET, "--dry-run", folder=folder)["ids"] == []
    assert files_with(folder, SECRET) == set()
    again = answer(
        "backup", "restore", "second.zip", "--store", "new.db", "--ledger", "memory.db.ledger", folder=folder
    )
    assert again["erased_again"] == 2


def test_a_restored_file_is_refused_until_the_ledger_is_replayed(folder: Path) -> None:
    whole = (folder / "memory.db").read_bytes()
    told("forget", "--about", SECRET, "--yes", folder=folder)
    for left in folder.glob("memory.db-*"):
        left.unlink()
    (folder / "memory.db").write_bytes(whole)
    refused = run("list", folder=folder)
    assert refused.returncode == 1
    assert "retentia ledger replay" in refused.stderr
    assert told("ledger", "replay", folder=folder) == "erased again: 2 records\n"
    assert answer("ledger", "replay", folder=folder) == {"erased": 0}
    assert "erasure" in told("ledger", "show", folder=folder)
    (entry,) = answer("ledger", "show", folder=folder)
    assert (entry["seq"], entry["kind"], len(entry["records"])) == (1, "erasure", 2)
    assert files_with(folder, SECRET) == set()


def test_a_lost_ledger_is_renewed_only_when_it_is_lost_and_accepted(folder: Path) -> None:
    told("forget", "--about", SECRET, "--yes", folder=folder)
    assert "there is a ledger" in run("ledger", "renew", "--yes", folder=folder).stderr
    (folder / "memory.db.ledger").unlink()
    refused = run("list", folder=folder)
    assert (refused.returncode, "retentia ledger renew" in refused.stderr) == (1, True)
    assert run("ledger", "renew", folder=folder, says="n\n").returncode != 0
    assert not (folder / "memory.db.ledger").exists()
    assert told("ledger", "renew", "--yes", folder=folder) == "begun a new ledger\n"
    assert answer("ledger", "show", folder=folder) == []
    assert answer("forget", "--everything", "--yes", folder=folder)["ledger_seq"] == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("forget",), "say what shall be forgotten"),
        (("forget", "what is the weather?"), "does not say what to forget"),
        (("forget", "--id", "nonsense"), "nonsense"),
        (("forget", "--about", "x", "--last", "soon"), "--last takes"),
        (("forget", "--last", "99999999999w"), "longer than anything"),
        (("forget", "--last", f"{'9' * 5000}w"), "longer than anything"),
        (("forget", "--since", "2027", "--until", "2020"), "before"),
        (("forget", "--since", "next-ish"), "next-ish"),
        (("forget", "--kind", "gossip"), "gossip"),
        (("forget", "--where", "{"), "take JSON"),
        (("forget", "--everything", "--store", "mistyped.db"), "there is no store"),
        (("forget", "--everything", "--yes", "--receipt", "no/folder/r.json"), "cannot be written"),
        (("forget", "--everything", "--yes", "--receipt", "bad.json"), "name a new file"),
        (("verify-erasure", "missing.json"), "does not exist"),
        (("verify-erasure", "bad.json"), "is not a receipt"),
        (("verify-erasure", "list.json"), "is not a receipt"),
        (("verify-erasure", "deep.json"), "is not a receipt"),
        (("verify-erasure", "binary.json"), "is not a receipt"),
        (("verify-erasure", "ids.json"), "nonsense"),
        (("ledger", "show", "--store", "mistyped.db"), "there is no store"),
        (("ledger", "renew", "--yes", "--store", "mistyped.db"), "there is no store"),
        (("ledger", "show", "--ledger", "bad.json"), "ledger"),
        (("ledger", "show", "--ledger", "."), "ledger"),
        (("backup", "create", "bad.json"), "there already"),
        (("backup", "create", "no/folder/b.zip"), "no folder"),
        (("backup", "create", "b.zip", "--days", "0"), "--days"),
        (("backup", "create", "b.zip", "--days", "999999999999"), "--days"),
        (("backup", "create", "b.zip", "--store", "mistyped.db"), "there is no store"),
        (("backup", "restore", "missing.zip", "--store", "new.db"), "there is no backup"),
        (("backup", "restore", "bad.json", "--store", "new.db"), "is no backup"),
        (("backup", "restore", "bad.json", "--store", "no/folder/new.db"), "no folder"),
        (("backup", "drill", "bad.json"), "is no backup"),
        (("backup", "drill", "missing.zip"), "there is no backup"),
    ],
)
def test_what_is_wrong_is_said_without_a_traceback_and_nothing_is_erased(
    folder: Path, arguments: tuple[str, ...], says: str
) -> None:
    (folder / "bad.json").write_text("{}", "utf-8")
    (folder / "list.json").write_text("[1]", "utf-8")
    (folder / "deep.json").write_text("[" * 100_000, "utf-8")
    (folder / "binary.json").write_bytes(b"\xff\xfe\x00")
    (folder / "ids.json").write_text('{"tenant": "local", "id": "x", "records": ["nonsense"]}', "utf-8")
    before = sorted(file.name for file in folder.iterdir() if not file.name.startswith("memory.db-"))
    done = run(*arguments, folder=folder)
    assert done.returncode in (1, 2)
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 4
    assert sorted(file.name for file in folder.iterdir() if not file.name.startswith("memory.db-")) == before
    with Memory.open(folder / "memory.db", embedder=None, worker=False) as memory:
        assert memory.stats(scope=ME).records == {"message": 3, "tool_call": 0, "document": 0, "preference": 1}
