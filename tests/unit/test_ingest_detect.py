import json

import pytest

from retentia.ingest.detect import Format, detect_format
from retentia.ingest.text import encoding_of

LINE = json.dumps({"role": "user", "content": "Hi"})


@pytest.mark.parametrize(
    ("head", "suffix", "found"),
    [
        (f"{LINE}\n{LINE}\n", ".jsonl", Format.JSONL),
        (f"{LINE}\n{LINE}\n", ".json", Format.JSONL),
        (f"{LINE}\n{LINE}\n", "", Format.JSONL),
        (LINE, "", Format.JSONL),
        (f"\ufeff\n  {LINE}\r\n{LINE}", ".txt", Format.JSONL),
        (f'{{"role": "us\n{LINE}\n', "", Format.JSONL),
        (f"--- log started ---\n{LINE}\n", ".txt", Format.JSONL),
        ("not json at all", ".jsonl", Format.JSONL),
        (f"[{LINE}]\n[{LINE}]\n", "", Format.JSONL),
        (f"[{LINE}, {LINE}]", "", Format.JSON),
        (f"[\n  {LINE},\n  {LINE}\n]", "", Format.JSON),
        ('{\n  "messages": [\n    {"role": "user", "content": "Hi"}\n  ]\n}', "", Format.JSON),
        ('[{"title": "A", "mapping": {"root": {"id": "root"', "", Format.CHATGPT),
        ('[\n  {\n    "title": "A",\n    "mapping": {\n', ".json", Format.CHATGPT),
        ('{"title": "A", "mapping": {}}', ".json", Format.CHATGPT),
        ('[{"uuid": "1", "name": "A", "chat_messages": [{"uuid"', "", Format.CLAUDE),
        (f'{LINE}\n{{"role": "user", "content": "\\"mapping\\": {{"}}\n', "", Format.JSONL),
        ("# Title\n\nText", ".txt", Format.MARKDOWN),
        ("Text", ".md", Format.MARKDOWN),
        ("---\ntitle: x\n---\nText", "", Format.MARKDOWN),
        ("Just a text.\n- with a list", ".txt", Format.TEXT),
        ("[1] A footnote first.", ".txt", Format.TEXT),
        ("{curly} words", ".txt", Format.TEXT),
    ],
)
def test_the_content_decides_and_the_suffix_only_breaks_ties(head: str, suffix: str, found: Format) -> None:
    assert detect_format(head, suffix) is found


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("text", ['{"role": "user", "content": "Привіт, Größe"}', "Київ, 2026"])
def test_encodings_are_told_by_their_marks_and_zeros(encoding: str, text: str) -> None:
    found = encoding_of(text.encode(encoding))
    assert found is not None
    assert text.encode(encoding).decode(found) == text


@pytest.mark.parametrize(
    "head", [b"%PDF-1.7 text", b"\x89PNG\r\n", b"\x7fELF", b"\0\0\0\0", b"a\0\0b", bytes(range(256))]
)
def test_binary_files_are_no_text(head: bytes) -> None:
    assert encoding_of(head) is None
