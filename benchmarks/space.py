"""Space: what a message costs on disk, and a passage in memory."""

import sqlite3
from dataclasses import replace
from pathlib import Path

from benchmarks.corpus import of_length
from benchmarks.search import Asked
from benchmarks.setting import DIMENSION, Setting
from benchmarks.start import start
from benchmarks.stores import add_all, empty_store, said_in, store_of
from benchmarks.tables import Table
from benchmarks.vectors import WordVectors

_CHARACTERS = 120


def disk(setting: Setting) -> list[Table]:
    """Measure the file of a store whose messages have 120 characters each."""
    said = said_in(setting, setting.middle)
    texts = of_length([one.text for one in said], _CHARACTERS)
    setting.say("writing messages of 120 characters")
    with empty_store(setting, "empty", WordVectors()):
        pass
    with empty_store(setting, "disk", WordVectors()) as memory:
        add_all(memory, [replace(one, text=text) for one, text in zip(said, texts, strict=True)])
        memory.drain()
    nothing, path = (setting.folder / "empty.db").stat().st_size, setting.folder / "disk.db"
    each = (path.stat().st_size - nothing) / len(said)
    rows = [
        ("a message of 120 characters with its vector", each, 2_600.0),
        ("the numbers of the vector alone", 2.0 * DIMENSION, None),
        *((f"of which in {name}", size / len(said), None) for name, size in _by_table(path)),
    ]
    notes = (f"{len(said):,} messages; SQLite file after closing, less that of an empty store.",)
    return [Table("On disk", ("", "bytes", "goal"), rows, notes)]


def memory(setting: Setting) -> list[Table]:
    """Measure what a resident index takes, from within and by the growth of a fresh process."""
    asked = Asked.of(setting)
    rows = []
    for size in setting.sizes:
        path = store_of(setting, size)
        setting.say(f"loading {size:,} passages into a fresh process")
        found = start(path, asked)
        grown = None if found.grown_bytes is None else found.grown_bytes / found.passages
        rows.append((size, found.index_bytes / found.passages, grown, 4.0 * DIMENSION, 4_000.0))
    columns = ("passages in the scope", "index bytes a passage", "process grew by", "floor: float32 vector", "goal")
    notes = ("The process grows also by what every first search needs: word lists, lemmas, buffers, the page cache.",)
    return [Table("In memory", columns, rows, notes)]


def _by_table(path: Path) -> list[tuple[str, int]]:
    """Return bytes by table, the largest first; nothing where SQLite was built without dbstat."""
    connection = sqlite3.connect(path)
    try:
        statement = """
            SELECT CASE m.type WHEN 'index' THEN 'indexes of ' ELSE 'table ' END || m.tbl_name, sum(s.pgsize)
            FROM dbstat s JOIN sqlite_master m ON m.name = s.name
            GROUP BY 1 HAVING sum(s.pgsize) > 65536 ORDER BY 2 DESC
        """
        return [(str(name), int(size)) for name, size in connection.execute(statement)]
    except sqlite3.OperationalError:
        return []
    finally:
        connection.close()
