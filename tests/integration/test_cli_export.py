"""`retentia export`, and taking exports and other memories in again, as people run it: real files, a real store."""

import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from retentia import Memory, Scope
from retentia.cli.main import cli
from retentia.ingest import own_export

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ingest"
EXAMPLES = Path(__file__).parents[2] / "examples"
Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def invoke(command: str, *args: object, store: str = "memory.db", user: str = "me") -> Result:
        options = ["--store", str(tmp_path / store), "--embedder", "none", "--user", user]
        return CliRunner().invoke(cli, [command, *map(str, args), *options], catch_exceptions=False)

    return invoke


@pytest.fixture
def exported(run: Run, tmp_path: Path) -> Path:
    """An export of the examples; the store they came from is `memory.db`."""
    run("ingest", EXAMPLES / "chats", EXAMPLES / "documents")
    run("remember", "Anna likes tea", "--kind", "preference")
    out = tmp_path / "out.jsonl"
    assert run("export", out).exit_code == 0
    return out


def items_of(store: Path) -> int:
    """Count what is known in a store: what was remembered, and what was learned from the examples."""
    with Memory.open(store, embedder=None, worker=False) as memory:
        held = memory.stats(scope=Scope("local", "me")).records
    return sum(held.values()) - 203 - 2 - 1


def records_of(store: Path) -> int:
    return 203 + 2 + 1 + items_of(store)


def answer(result: Result) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def rewritten(path: Path, change: Callable[[list[str]], list[str]], name: str = "changed.jsonl") -> Path:
    """Write a changed copy of an export beside it."""
    copy = path.with_name(name)
    copy.write_text("\n".join(change(path.read_text("utf-8").splitlines())) + "\n", "utf-8")
    return copy


def test_an_export_is_taken_in_by_ingest_and_again_only_recognised(run: Run, exported: Path, tmp_path: Path) -> None:
    first = answer(run("ingest", exported, "--json", store="other.db"))
    assert first["stored"] == {
        "messages": 203,
        "tool calls": 2,
        "documents": 1,
        "items": items_of(tmp_path / "memory.db"),
    }
    assert first["skipped"] == 0
    again = answer(run("ingest", exported, "--json", store="other.db"))
    assert again["stored"] == {"messages": 0, "tool calls": 0, "documents": 0, "items": 0}
    assert again["already_there"] == first["stored"]
    run("export", tmp_path / "again.jsonl", store="other.db")
    one, other = (path.read_text("utf-8").partition("\n")[2] for path in (exported, tmp_path / "again.jsonl"))
    assert one == other


def test_the_summary_tells_what_was_written(run: Run, exported: Path) -> None:
    found = answer(run("export", exported, "--overwrite", "--json"))
    said = {kind: found["counts"][kind] for kind in ("document", "message", "session", "tool_call")}
    assert said == {"document": 1, "message": 203, "session": 14, "tool_call": 2}
    assert found["counts"]["preference"] >= 1
    assert found["bytes"] == exported.stat().st_size
    assert found["scope"]["user"] == "me"
    refused = CliRunner().invoke(cli, ["export", str(exported), "--format", "pdf"])
    assert refused.exit_code == 2


def test_an_export_is_recognised_in_a_zip_and_in_another_encoding(run: Run, exported: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "box.zip", "w") as archive:
        archive.write(exported, "memories/out.jsonl")
    (tmp_path / "wide.txt").write_bytes(exported.read_text("utf-8").encode("utf-16"))
    for name in ("box.zip", "wide.txt"):
        found = answer(run("ingest", tmp_path / name, "--json", store=f"{name}.db"))
        assert sum(found["stored"].values()) == records_of(tmp_path / "memory.db")


def test_an_entry_that_leads_out_of_its_archive_is_named_and_not_read(run: Run, exported: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "box.zip", "w") as archive:
        archive.write(exported, "../../out.jsonl")
        archive.writestr(zipfile.ZipInfo("/etc/out.jsonl"), exported.read_bytes())
    found = answer(run("ingest", tmp_path / "box.zip", "--json", store="other.db"))
    assert found["reasons"] == {"an entry that leads out of the archive": 2}
    assert not (tmp_path.parent.parent / "out.jsonl").exists()


def test_everything_goes_into_the_scope_that_is_named_and_that_is_said(
    run: Run, exported: Path, tmp_path: Path
) -> None:
    result = run("ingest", exported, user="bob")
    assert f"stored: 203 messages, 2 tool calls, 1 documents, {items_of(tmp_path / 'memory.db')} items" in result.stdout
    assert "note: records of 'local/me/default' were read; all of them go into local/bob/default" in result.stdout


@pytest.mark.parametrize("name", ["out.jsonl", "mem0_get_all.json", "mcp_memory.jsonl", "letta_agent.af", "chats"])
def test_a_dry_run_says_what_would_be_done_and_writes_nothing(
    name: str, run: Run, exported: Path, tmp_path: Path
) -> None:
    path = exported if name == "out.jsonl" else EXAMPLES / name if name == "chats" else FIXTURES / name
    planned = answer(run("ingest", path, "--dry-run", "--json", store="other.db"))
    assert planned["dry_run"]
    assert not (tmp_path / "other.db").exists()
    run("remember", "Olena leads Atlas", "--kind", "knowledge", store="other.db")
    before = run("export", tmp_path / "before.md", "--format", "markdown", store="other.db").stdout
    again = answer(run("ingest", path, "--dry-run", "--json", store="other.db"))
    after = run("export", tmp_path / "after.md", "--format", "markdown", store="other.db").stdout
    assert before.replace("before", "after") == after
    done = answer(run("ingest", path, "--json", store="other.db"))
    for part in ("stored", "already_there", "reasons", "first_skipped", "notes"):
        assert again[part] == done[part], part
    assert sum(planned["stored"].values()) == sum(done["stored"].values()) + (name == "mcp_memory.jsonl")


def test_a_dry_run_in_words(run: Run) -> None:
    result = run("ingest", FIXTURES / "mem0_get_all.json", "--dry-run")
    assert "would be stored: 3 items" in result.stdout
    assert "already there: 1 items" in result.stdout, "the same memory under two ids is one"
    assert "  2 × a memory without text\n" in result.stdout
    assert "note: records of 'alice' were read; all of them go into local/me/default" in result.stdout


def test_a_dry_run_follows_sources_across_batches(run: Run, tmp_path: Path) -> None:
    run("remember", "seed")
    out = tmp_path / "out.jsonl"
    run("export", out)
    header, seed = out.read_text().splitlines()
    told = json.loads(seed)
    many = [{**told, "id": f"01a22cdc-26b5-78fb-b08e-{n:012x}", "text": f"note {n}", "sources": []} for n in range(900)]
    many[0]["sources"] = [{"kind": "note", "id": many[-1]["id"]}, {"kind": "note", "id": told["id"]}]
    many[-1]["sources"] = [{"kind": "note", "id": many[0]["id"]}]
    out.write_text("\n".join([header, *map(json.dumps, many)]))
    for flags in (["--dry-run"], []):
        found = answer(run("ingest", out, "--json", *flags, store="other.db"))
        assert found["stored"]["items"] == 900
        assert found["first_skipped"][0]["detail"] == told["id"], "the only one that is in no file"
        assert found["skipped"] == 1


def test_a_file_that_was_cut_off_gives_what_it_has_and_says_so(run: Run, exported: Path) -> None:
    whole = exported.read_bytes()
    exported.write_bytes(whole[: len(whole) // 2])
    found = answer(run("ingest", exported, "--json", store="other.db"))
    assert sum(found["stored"].values()) > 50
    assert found["reasons"].keys() == {"broken JSON", "the export was cut off: it has fewer lines than its header says"}
    header, *rest = whole.splitlines()
    lines = len(rest)
    exported.write_bytes(header)
    found = answer(run("ingest", exported, "--json", store="third.db"))
    assert found["first_skipped"][0]["detail"] == f"{lines} of {lines} lines are missing"


def test_another_version_is_refused_by_name(run: Run, exported: Path) -> None:
    for version in ("2", "null", '"1"'):
        changed = rewritten(
            exported, lambda lines, v=version: [lines[0].replace('"version":1', f'"version":{v}'), *lines[1:]]
        )
        result = run("ingest", changed, store="other.db")
        assert result.exit_code == 1
        assert "an export of another version: use the retentia that wrote it, or a newer one" in result.stdout


def test_a_bad_line_costs_only_itself(run: Run, exported: Path, tmp_path: Path) -> None:
    bad = [
        "{not json",
        "[]",
        "7",
        '{"kind":"diary","text":"x"}',
        '{"kind":"note","text":"x","tenant":"globex"}',
        '{"kind":"note","text":"x","id":"../../etc/passwd"}',
        '{"kind":"note","text":7}',
        '{"kind":"note","text":""}',
        '{"kind":"note","text":"deep","metadata":' + '{"a":' * 5_000 + "1" + "}" * 5_001,
        '{"kind":"note","text":"x","occurred":"soon"}',
    ]
    changed = rewritten(exported, lambda lines: [*lines[:3], *bad, *lines[3:]])
    result = run("ingest", changed, "--json", store="other.db")
    found = answer(result)
    assert sum(found["stored"].values()) == records_of(tmp_path / "memory.db")
    assert found["skipped"] == len(bad)
    assert [skipped["where"].rpartition(":")[2] for skipped in found["first_skipped"]] == [
        str(n) for n in range(4, 14)
    ] or ({skipped["where"].rpartition(":")[2] for skipped in found["first_skipped"]} == {str(n) for n in range(4, 14)})


def test_what_no_database_holds_is_replaced_and_said(run: Run, exported: Path) -> None:
    line = json.dumps({"kind": "note", "text": "a\x00b\ud83d", "metadata": {"k\ud83d": "\x00"}})
    changed = rewritten(exported, lambda lines: [lines[0], line])
    found = answer(run("ingest", changed, "--json", store="other.db"))
    assert found["stored"]["items"] == 1
    assert found["notes"] == ["characters that cannot be stored (NUL or half a surrogate pair) were replaced by U+FFFD"]


def test_raw_bytes_that_are_no_text_cost_their_line(run: Run, exported: Path, tmp_path: Path) -> None:
    lines = exported.read_bytes().splitlines()
    exported.write_bytes(b"\n".join([*lines[:2], b'{"kind":"note","text":"\xff\xfe"}', *lines[2:]]))
    found = answer(run("ingest", exported, "--json", store="other.db"))
    assert found["reasons"] == {"the line is not UTF-8": 1}
    assert sum(found["stored"].values()) == records_of(tmp_path / "memory.db")


def test_a_line_above_the_limit_is_skipped_and_reading_goes_on(
    run: Run, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own_export, "MAX_RECORD_CHARS", 50_000)
    long = json.dumps({"kind": "note", "text": "x" * 200_000})
    changed = rewritten(exported, lambda lines: [*lines[:5], long, *lines[5:]])
    found = answer(run("ingest", changed, "--json", store="other.db"))
    assert found["reasons"] == {"the line is too long": 1}
    assert sum(found["stored"].values()) == records_of(tmp_path / "memory.db")


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read from /proc")
def test_an_endless_line_takes_bounded_memory(exported: Path, tmp_path: Path) -> None:
    lines = exported.read_bytes().splitlines(keepends=True)
    with exported.open("wb") as file:
        file.write(lines[0] + b'{"kind":"note","text":"')
        for _ in range(400):
            file.write(b"x" * (1 << 20))
        file.write(b'"}\n')
        file.writelines(lines[1:])
    program = (
        "import sys; from pathlib import Path; from retentia.ingest import Skipped, own_export, read\n"
        "own_export.MAX_RECORD_CHARS = 1 << 24\n"
        "items = list(read([Path(sys.argv[1])]))\n"
        "print([str(item.reason) for item in items if isinstance(item, Skipped)], len(items))\n"
        "print(Path('/proc/self/status').read_text().partition('VmHWM:')[2].split()[0])\n"
    )
    out = subprocess.run([sys.executable, "-c", program, exported], capture_output=True, text=True, check=True).stdout
    said, peak = out.splitlines()
    assert said == f"['the line is too long'] {len(lines)}"
    assert int(peak) < 200 << 10, "in kB; the line has 400 MiB"


def test_a_record_that_names_files_opens_none(run: Run, tmp_path: Path) -> None:
    (tmp_path / "passwd").write_text("root:secret")
    memory = [{"id": "1", "memory": "see file", "image": str(tmp_path / "passwd"), "metadata": {"path": "../passwd"}}]
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps(memory))
    run("ingest", path)
    assert b"root:secret" not in (tmp_path / "memory.db").read_bytes()
    assert run("export", tmp_path / "out.jsonl").exit_code == 0
    assert "root:secret" not in (tmp_path / "out.jsonl").read_text()


def test_an_interrupted_export_leaves_nothing(run: Run, exported: Path, tmp_path: Path) -> None:
    for path in tmp_path.glob("out.jsonl"):
        path.unlink()
    (tmp_path / "dangling.jsonl").symlink_to(tmp_path / "nowhere" / "x")
    result = CliRunner().invoke(
        cli, ["export", str(tmp_path / "dangling.jsonl"), "--store", str(tmp_path / "memory.db")]
    )
    assert result.exit_code == 0
    assert not (tmp_path / "dangling.jsonl").is_symlink(), "the name is the file's own, what it pointed at is untouched"
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".part")] == []
