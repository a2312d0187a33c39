"""Reading real files: what is found, what is skipped, and why."""

import gzip
import json
import os
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from retentia.errors import InvalidInput
from retentia.ingest import Format, IngestDocument, IngestMessage, Item, Skipped, detect, read, total_bytes
from retentia.ingest import text as text_module
from retentia.model.message import Message
from retentia.model.time import Moment

FIXTURES = Path(__file__).parents[1] / "fixtures" / "ingest"


def said(items: Iterable[Item]) -> list[Message]:
    return [item.message for item in items if isinstance(item, IngestMessage)]


def reasons(items: Iterable[Item]) -> list[str]:
    return [item.reason for item in items if isinstance(item, Skipped)]


def write_lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path


def test_a_chatgpt_export_gives_the_branch_in_use_in_order() -> None:
    items = list(read([FIXTURES / "chatgpt_conversations.json"]))
    first = [item.message for item in items if isinstance(item, IngestMessage) and item.session.endswith("0001")]
    assert [(message.key, message.role) for message in first] == [
        ("u1", "user"),
        ("c1", "assistant"),
        ("r1", "tool"),
        ("a1", "assistant"),
    ]
    image, question = first[0].content
    assert isinstance(image, dict)
    assert image["type"] == "image_asset_pointer"
    assert question == {"type": "text", "text": "What is wrong with these leaves?"}
    assert first[1].tool_calls[0]["id"] == first[2].tool_call_id
    assert first[2].content == "Nitrogen deficiency: lower leaves first"
    assert first[3].at == Moment.parse("2025-05-15T10:00:07.25Z")
    assert first[3].metadata == {"conversation": "Balcony tomatoes", "model": "gpt-4o"}
    assert sorted(reasons(items)) == [
        "custom instructions are no conversation",
        "hidden message",
        "reasoning is not kept",
        "replaced by an edit or a regeneration",
    ]


def test_a_chatgpt_conversation_without_a_current_node_ends_at_its_latest_leaf() -> None:
    items = list(read([FIXTURES / "chatgpt_conversations.json"]))
    assert said(items)[-1].content == "Привіт, Києве!"


def test_a_chatgpt_tree_that_is_a_circle_comes_to_an_end(tmp_path: Path) -> None:
    message = {"id": "a", "author": {"role": "user"}, "content": {"content_type": "text", "parts": ["Hi"]}}
    nodes = {
        "a": {"id": "a", "message": message, "parent": "b", "children": ["b"]},
        "b": {"id": "b", "message": None, "parent": "a", "children": ["a"]},
    }
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps([{"mapping": nodes, "current_node": "b"}, {"mapping": {}}, {"mapping": []}, 7]))
    items = list(read([path]))
    assert [message.content for message in said(items)] == ["Hi"]
    assert reasons(items) == ["not a ChatGPT conversation", "not a ChatGPT conversation"]


def test_a_claude_export_gives_messages_calls_results_and_attachments() -> None:
    items = list(read([FIXTURES / "claude_conversations.json"]))
    messages = said(items)
    assert [(message.role, message.content) for message in messages] == [
        ("user", "Please sum up the attached notes."),
        ("assistant", "Let me check the figures."),
        ("tool", "0.12"),
        ("assistant", "Revenue grew by 12 %, churn fell to 3.1 %."),
        ("user", "Danke! Nächste Woche auf Deutsch, bitte."),
    ]
    assert messages[1].tool_calls[0]["id"] == messages[2].tool_call_id
    assert messages[0].metadata["files"] == ["notes.txt", "scan.pdf", "chart.png"]
    documents = [item.document for item in items if isinstance(item, IngestDocument)]
    assert [(document.title, document.text[:15]) for document in documents] == [("notes", "Revenue grew by")]
    assert reasons(items) == ["an attachment without text", "reasoning is not kept", "empty message"]


def test_both_exports_are_recognised_by_their_content() -> None:
    assert detect(FIXTURES / "chatgpt_conversations.json") is Format.CHATGPT
    assert detect(FIXTURES / "claude_conversations.json") is Format.CLAUDE


def test_one_message_a_line_belongs_to_its_session_or_to_the_file(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "chat.jsonl",
        {"role": "user", "content": "Hi", "session": "monday", "id": "1", "timestamp": "2026-06-01T10:00:00Z"},
        {"role": "assistant", "content": "Hello", "session": "monday", "id": 2},
        {"role": "user", "content": "Somewhere else"},
    )
    found = [item for item in read([path]) if isinstance(item, IngestMessage)]
    assert [(item.session, item.where.rpartition(":")[2]) for item in found] == [
        ("monday", "1"),
        ("monday", "2"),
        ("chat", "3"),
    ]
    assert [item.message.key for item in found[:2]] == ["1", "2"]


def test_one_conversation_a_line_has_a_name_of_its_own(tmp_path: Path) -> None:
    hello = {"role": "user", "content": "Hi"}
    path = write_lines(
        tmp_path / "chats.jsonl",
        {"id": "c-1", "title": "First", "created_at": "2026-06-01", "messages": [hello]},
        {"messages": [hello, {"role": "assistant", "content": "Hello"}]},
        {"conversations": [{"from": "human", "value": "Hi"}]},
        [hello],
        [hello],
        {"prompt": "Two plus two?", "completion": "Four."},
    )
    found = [item for item in read([path]) if isinstance(item, IngestMessage)]
    assert len({item.session for item in found}) == 5, "the same conversation given twice is one"
    assert found[0].session == "c-1"
    assert found[0].message.metadata == {"conversation": "First"}
    assert found[0].message.at == Moment.parse("2026-06-01")
    assert [item.message.content for item in found[-2:]] == ["Two plus two?", "Four."]


def test_a_pretty_printed_list_of_messages_is_read(tmp_path: Path) -> None:
    path = tmp_path / "chat.json"
    path.write_text(
        json.dumps([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}], indent=2)
    )
    assert [message.content for message in said(read([path]))] == ["Hi", "Hello"]


def test_reading_again_gives_the_same_keys_also_after_the_file_grew(tmp_path: Path) -> None:
    records = [{"role": "user", "content": text} for text in ("ok", "ok", "and now?")]
    path = write_lines(tmp_path / "chat.jsonl", *records)
    before = [message.key for message in said(read([path]))]
    write_lines(path, *records, {"role": "assistant", "content": "ok"})
    after = [message.key for message in said(read([path]))]
    assert after[:3] == before
    assert len(set(after)) == 4


def test_one_id_on_different_messages_loses_none_of_them(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "chat.jsonl",
        {"id": 1, "role": "user", "content": "one"},
        {"id": 1, "role": "user", "content": "two"},
        {"id": 1, "role": "user", "content": "one"},
    )
    keys = [message.key for message in said(read([path]))]
    assert keys[0] == keys[2] == "1"
    assert keys[1].startswith("1~")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_marks_line_ends_and_utf16_make_no_difference(tmp_path: Path, encoding: str, line_end: str) -> None:
    lines = [
        json.dumps({"role": "user", "content": text}, ensure_ascii=False) for text in ("Größe", "Київ", "a\u2028b")
    ]
    path = tmp_path / "chat.jsonl"
    path.write_bytes((line_end.join(lines) + line_end).encode(encoding))
    assert [message.content for message in said(read([path]))] == ["Größe", "Київ", "a\u2028b"]


def test_a_bad_line_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module.bounded_lines, "__kwdefaults__", {"limit": 1_000})
    good = b'{"role": "user", "content": "here"}'
    path = tmp_path / "chat.jsonl"
    bad = [
        b'{"role": "user", "content": "cut',
        b'{"role": "user", "content": "Gr\xf6\xdfe"}',
        b'{"role": "user", "content": "' + b"x" * 5_000 + b'"}',
        b"[" * 50_000,
        b"7",
        b'{"role": "user", "content": ' + b"9" * 900 + b"}",
        b'{"event": "login"}',
    ]
    path.write_bytes(b"\n\n".join([good, *(line + b"\n" + good for line in bad)]))
    items = list(read([path]))
    assert [message.content for message in said(items)] == ["here"] * 8
    assert reasons(items) == [
        "broken JSON",
        "the line is not UTF-8",
        "the line is too long",
        "the line is too long",
        "a record must be a JSON object",
        "content of an unknown shape",
        "no message: neither a role nor a speaker",
    ]
    assert str(items[3]) == f"{path}:6: the line is not UTF-8 (byte 0xf6 at character 32)"


def test_deep_nesting_and_endless_digits_are_broken_json(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role": "user", "content": "here"}\n' + "[" * 200_000 + "\n" + "9" * 10_000 + "\n")
    assert reasons(read([path])) == ["broken JSON", "broken JSON"]


def test_surrogates_and_nul_in_escapes_arrive_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text('{"role": "user", "content": "a\\ud83d b\\u0000c"}\n')
    message = said(read([path]))[0]
    assert message.content == "a\ud83d b\0c"
    assert len(message.key) == 24


def test_an_export_that_was_cut_off_gives_what_is_whole(tmp_path: Path) -> None:
    whole = (FIXTURES / "chatgpt_conversations.json").read_text("utf-8")
    path = tmp_path / "conversations.json"
    path.write_text(whole[: whole.index("Порожня")], "utf-8")
    items = list(read([path]))
    assert len(said(items)) == 4
    assert reasons(items)[-1] == "broken JSON: the rest was not read"


def test_markdown_takes_its_title_and_date_from_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntitle: 'Rollback plan'\ndate: 2026-05-04\n---\n# Heading\n\nText.\n")
    (tmp_path / "b.md").write_text("```\n# no heading\n```\n\nSecond try\n==========\nText.\n")
    (tmp_path / "c.md").write_text("Only text.\n")
    (tmp_path / "d.txt").write_text("Plain text.\n")
    documents = [item.document for item in read([tmp_path]) if isinstance(item, IngestDocument)]
    assert [document.title for document in documents] == ["Rollback plan", "Second try", "c", "d"]
    assert documents[0].at == Moment.parse("2026-05-04")
    assert [document.media_type for document in documents] == ["text/markdown"] * 3 + ["text/plain"]


def test_an_edited_document_has_another_key(tmp_path: Path) -> None:
    path = tmp_path / "note.md"
    found = []
    for text in ("# One", "# One", "# Two"):
        path.write_text(text)
        found += [item.document.key for item in read([path]) if isinstance(item, IngestDocument)]
    assert found[0] == found[1] != found[2]


def test_files_that_hold_nothing_readable_say_why(tmp_path: Path) -> None:
    contents = {
        "blank.jsonl": b" \n\n",
        "empty.md": b"",
        "latin.txt": "Größe".encode("latin-1"),
        "mark.txt": b"\xef\xbb\xbf",
        "packed.txt": gzip.compress(b"text"),
        "picture.png": b"\x89PNG\r\n\x1a\n\0",
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / ".hidden.md").write_text("# unseen")
    assert reasons(read([tmp_path])) == [
        "the file is empty",
        "the file is empty",
        "the document is not UTF-8: convert it first",
        "the file is empty",
        "not text",
        "not a chat, a text or an export",
    ]


def test_a_path_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    found = list(read([tmp_path / "missing.md", tmp_path / "pipe", tmp_path / "gone.md"]))
    assert reasons(found) == ["no such file", "not a regular file", "no such file"]


def test_folders_are_walked_in_order_and_name_their_sessions(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "loop").symlink_to(tmp_path)
    for name in ("z.jsonl", "a.jsonl", "b/a.jsonl"):
        write_lines(tmp_path / name, {"role": "user", "content": name})
    found = [item for item in read([tmp_path]) if isinstance(item, IngestMessage)]
    assert [(item.session, item.message.content) for item in found] == [
        ("a", "a.jsonl"),
        ("b/a", "b/a.jsonl"),
        ("z", "z.jsonl"),
    ]


def test_a_zip_of_an_export_is_read_without_unpacking(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(FIXTURES / "chatgpt_conversations.json", "conversations.json")
        archive.writestr("dalle/leaf.png", b"\x89PNG")
        archive.writestr("__MACOSX/._conversations.json", b"junk")
        archive.writestr("notes/plan.md", "# Plan\n")
    items = list(read([path]))
    assert len(said(items)) == 5
    assert [item.document.title for item in items if isinstance(item, IngestDocument)] == ["Plan"]
    assert items[0].where == f"{path}!conversations.json#1"
    assert "not a chat, a text or an export" in reasons(items)


def test_a_damaged_or_encrypted_archive_says_so(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes.md", "# Plan\n" + "words and more words\n" * 2_000)
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])
    assert reasons(read([path])) == ["the zip archive is damaged"]
    broken = bytearray(raw)
    broken[60:70] = b"\xff" * 10
    path.write_bytes(bytes(broken))
    assert reasons(read([path])) == ["the zip archive is damaged"]
    locked = bytearray(raw)
    locked[raw.rindex(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(bytes(locked))
    assert reasons(read([path])) == ["the archive is encrypted: unpack it first"]


def test_the_format_can_be_forced(tmp_path: Path) -> None:
    path = tmp_path / "log.txt"
    path.write_text('{"role": "user", "content": "Hi"}\n')
    assert [type(item) for item in read([path])] == [IngestMessage]
    assert [type(item) for item in read([path], as_format=Format.TEXT)] == [IngestDocument]


def test_progress_counts_the_bytes_of_all_files(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        write_lines(tmp_path / name, *({"role": "user", "content": "x" * 50} for _ in range(3_000)))
    counts: list[int] = []
    assert len(said(read([tmp_path], progress=counts.append))) == 6_000
    assert sum(counts) == total_bytes([tmp_path]) > 0


def test_reading_is_lazy(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "a.jsonl", *({"role": "user", "content": "x" * 50} for _ in range(50_000)))
    counts: list[int] = []
    items = read([path], progress=counts.append)
    assert isinstance(next(items), IngestMessage)
    assert sum(counts) < path.stat().st_size / 4


def test_only_a_single_readable_file_has_a_format(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    for path, match in (
        (tmp_path, "several files"),
        (tmp_path / "empty", "not readable"),
        (tmp_path / "no", "not readable"),
    ):
        with pytest.raises(InvalidInput, match=match):
            detect(path)
