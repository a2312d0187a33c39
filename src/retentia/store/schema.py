"""Every table, declared once, for SQLite and PostgreSQL alike.

Each key begins with the tenant, so that the same schema can be distributed by tenant; nothing uses a sequence, a
trigger or a foreign key across tables. Ids are 16 bytes, times UTC microseconds, JSON is text. Tables that are read by
scope are clustered by it on SQLite (WITHOUT ROWID): a scope lies together however many other tenants the file holds.
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    event,
)

metadata = MetaData()
# One order on both databases, whatever the locale of the server and its next upgrade.
_TEXT = Text().with_variant(Text(collation="C"), "postgresql")


@event.listens_for(metadata, "before_create")
def _leave_out_the_same_rows(declared: MetaData, _connection: object, **_more: object) -> None:
    """Make an index that is partial on SQLite partial on PostgreSQL, too.

    Saying so where it is declared would load SQLAlchemy's dialect of PostgreSQL into every process.
    """
    for index in (index for table in declared.tables.values() for index in table.indexes):
        index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]


def _text(name: str, *, default: str = "") -> Column[str]:
    return Column(name, _TEXT, nullable=False, server_default=default)


def _key(name: str) -> Column[str]:
    return Column(name, _TEXT, primary_key=True)


def _id(name: str, *, primary_key: bool = False) -> Column[bytes]:
    return Column(name, LargeBinary(16), primary_key=primary_key, nullable=False)


def _number(name: str, *, primary_key: bool = False) -> Column[int]:
    return Column(name, BigInteger, primary_key=primary_key, nullable=False, autoincrement=False)


def _scoped() -> tuple[Column[str], Column[int]]:
    return _key("tenant"), _number("scope_id", primary_key=True)


def _occurred() -> tuple[Column[Any], ...]:
    """Event time; all three are null when it is unknown, `zone` then is empty."""
    return (
        Column("occurred_start", BigInteger),
        Column("occurred_end", BigInteger),
        Column("precision", _TEXT),
        _text("zone"),
    )


def _kept() -> tuple[Column[Any], ...]:
    """What every record carries: its clock, its trust, the caller's metadata and how long it is kept."""
    return (
        _number("recorded_at"),
        _text("trust", default="person"),
        Column("metadata", _TEXT),
        Column("review_at", BigInteger),
        Column("expires_at", BigInteger),
    )


def _session() -> tuple[Column[Any], ...]:
    """What a session has, wherever it lies: among the living ones, or in the bin."""
    return (
        *_scoped(),
        _id("id", primary_key=True),
        _text("name"),
        _number("next_seq"),
        _number("started_at"),
        _number("last_at"),
        Column("ended_at", BigInteger),
        Column("metadata", _TEXT),
        Column("learned_seq", BigInteger, nullable=False, server_default="0"),
    )


def _edge() -> tuple[Column[Any], ...]:
    """Which stretch of a parent a child is known from, wherever the child lies."""
    return (
        _key("tenant"),
        _key("child_kind"),
        _id("child_id", primary_key=True),
        _key("parent_kind"),
        _id("parent_id", primary_key=True),
        Column("start", Integer, primary_key=True, autoincrement=False),
        Column("end", Integer, nullable=False),
        _text("role", default="evidence"),
    )


scope = Table(
    "scope",
    metadata,
    _key("tenant"),
    _number("scope_id", primary_key=True),
    _text("user"),
    _text("space"),
    _text("agent"),
    _number("version"),
    _number("created_at"),
    UniqueConstraint("tenant", "user", "space", "agent", name="scope_name"),
    sqlite_with_rowid=False,
)

session = Table(
    "session",
    metadata,
    *_session(),
    UniqueConstraint("tenant", "scope_id", "name", name="session_name"),
    sqlite_with_rowid=False,
)

message = Table(
    "message",
    metadata,
    *_scoped(),
    _id("id", primary_key=True),
    _id("session_id"),
    _number("seq"),
    _text("role"),
    _text("speaker"),
    _text("text"),
    Column("parts", _TEXT),
    Column("client_key", _TEXT),
    Column("pinned", Integer, nullable=False, server_default="0"),
    *_occurred(),
    *_kept(),
    UniqueConstraint("tenant", "scope_id", "session_id", "seq", name="message_order"),
    sqlite_with_rowid=False,
)
Index(
    "message_client_key",
    message.c.tenant,
    message.c.scope_id,
    message.c.session_id,
    message.c.client_key,
    unique=True,
    sqlite_where=message.c.client_key.is_not(None),
)

Index(
    "message_pinned",
    message.c.tenant,
    message.c.scope_id,
    message.c.session_id,
    message.c.seq,
    sqlite_where=message.c.pinned == 1,
)

tool_call = Table(
    "tool_call",
    metadata,
    *_scoped(),
    _id("id", primary_key=True),
    _id("session_id"),
    _number("seq"),
    _text("name"),
    _text("text"),
    Column("arguments", _TEXT),
    Column("result", _TEXT),
    _text("status", default="ok"),
    _text("error"),
    Column("duration_ms", Float),
    Column("tokens", BigInteger),
    Column("client_key", _TEXT),
    *_occurred(),
    *_kept(),
    Column("full_bytes", BigInteger),
    UniqueConstraint("tenant", "scope_id", "session_id", "seq", name="tool_call_order"),
    sqlite_with_rowid=False,
)
Index(
    "tool_call_client_key",
    tool_call.c.tenant,
    tool_call.c.scope_id,
    tool_call.c.session_id,
    tool_call.c.client_key,
    unique=True,
    sqlite_where=tool_call.c.client_key.is_not(None),
)

tool_use = Table(
    "tool_use",  # not clustered: SQLite would walk all of a scope by its key rather than use an index below
    metadata,
    *_scoped(),
    _id("record_id", primary_key=True),
    Column("part", Integer, primary_key=True, nullable=False, autoincrement=False),
    _text("kind"),
    _id("session_id"),
    _number("seq"),
    Column("name", _TEXT),
    Column("call_key", LargeBinary(16)),
    Column("link_key", LargeBinary(16)),
    Column("target_key", LargeBinary(16)),
    Column("outcome_key", LargeBinary(16)),
    _text("status"),
    _number("called_at"),
)
for _found_by in ("name", "call_key", "link_key", "target_key"):
    Index(
        f"tool_use_{_found_by}",
        tool_use.c.tenant,
        tool_use.c.scope_id,
        tool_use.c[_found_by],
        tool_use.c.called_at,
        sqlite_where=tool_use.c[_found_by].is_not(None),
    )

document = Table(
    "document",
    metadata,
    *_scoped(),
    _id("id", primary_key=True),
    _text("title"),
    _text("uri"),
    _text("media_type"),
    _text("text"),
    Column("client_key", _TEXT),
    *_occurred(),
    *_kept(),
    UniqueConstraint("tenant", "scope_id", "client_key", name="document_client_key"),
)

item = Table(
    "item",
    metadata,
    *_scoped(),
    _id("id", primary_key=True),
    _text("kind"),
    _text("text"),
    Column("content_key", LargeBinary(16)),
    _text("status", default="stated"),
    Column("confidence", Float, nullable=False, server_default="1"),
    _text("importance", default="normal"),
    Column("valid_from", BigInteger),
    Column("valid_to", BigInteger),
    Column("retracted_at", BigInteger),
    Column("seen_count", Integer, nullable=False, server_default="1"),
    Column("version", Integer, nullable=False, server_default="1"),
    _text("author"),
    Column("body", _TEXT),
    *_occurred(),
    *_kept(),
    UniqueConstraint("tenant", "scope_id", "kind", "content_key", name="item_content"),
    sqlite_with_rowid=False,
)

claim = Table(
    "claim",
    metadata,
    *_scoped(),
    _id("record_id", primary_key=True),
    _id("subject_key"),
    _text("attribute"),
    _id("value_key"),
    _id("applies_key"),
    _number("said_start"),
    _number("said_end"),
    Index("claim_slot", "tenant", "scope_id", "subject_key", "attribute"),
    Index("claim_value", "tenant", "scope_id", "value_key", "subject_key"),
    sqlite_with_rowid=False,
)

revision = Table(
    "revision",
    metadata,
    *_scoped(),
    _id("record_id", primary_key=True),
    Column("version", Integer, primary_key=True, autoincrement=False),
    _number("changed_at"),
    _text("change"),
    _text("author"),
    _text("reason"),
    Column("cause_id", LargeBinary(16)),
    Column("before", _TEXT),
    Index("revision_cause", "tenant", "scope_id", "cause_id"),
    sqlite_with_rowid=False,
)

record_use = Table(
    "record_use",
    metadata,
    *_scoped(),
    _id("record_id", primary_key=True),
    _number("shown"),
    _number("last_shown_at"),
    sqlite_with_rowid=False,
)

passage = Table(
    "passage",
    metadata,
    *_scoped(),
    _id("record_id", primary_key=True),
    Column("part", Integer, primary_key=True, autoincrement=False),
    _text("kind"),
    _id("thread"),
    _number("seq"),
    _text("role"),
    _text("speaker"),
    Column("day", Integer, nullable=False),
    _number("occurred_start"),
    _number("occurred_end"),
    Column("flags", Integer, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("stems", LargeBinary, nullable=False),
    Column("grams", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

vector = Table(
    "vector",
    metadata,
    *_scoped(),
    Column("generation", Integer, primary_key=True, autoincrement=False),
    _id("record_id", primary_key=True),
    Column("part", Integer, primary_key=True, autoincrement=False),
    Column("vector", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

summary = Table(
    "summary",
    metadata,
    *_scoped(),
    _id("session_id", primary_key=True),
    Column("level", Integer, primary_key=True, autoincrement=False),
    _number("first_seq", primary_key=True),
    _number("last_seq"),
    _id("id"),
    _text("text"),
    _text("made_by"),
    Column("messages", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    _number("started_at"),
    _number("ended_at"),
    _number("created_at"),
    Column("body", _TEXT),
    sqlite_with_rowid=False,
)

manifest = Table(
    "manifest",
    metadata,
    *_scoped(),
    _id("reply_id", primary_key=True),
    Column("budget", Integer, nullable=False),
    Column("tokens", Integer, nullable=False),
    _text("counted"),
    _text("parts"),
    Column("missing", Integer, nullable=False),
    _number("created_at"),
    sqlite_with_rowid=False,
)

manifest_entry = Table(
    "manifest_entry",
    metadata,
    *_scoped(),
    _id("reply_id", primary_key=True),
    Column("place", Integer, primary_key=True, autoincrement=False),
    Column("record_id", LargeBinary(16)),
    _text("kind"),
    _text("part"),
    _text("label"),
    Column("score", Float, nullable=False),
    Column("version", Integer, nullable=False),
    Index("manifest_entry_record", "tenant", "scope_id", "record_id"),
    sqlite_with_rowid=False,
)

personal_data = Table(
    "personal_data",
    metadata,
    *_scoped(),
    _id("record_id", primary_key=True),
    Column("start", Integer, primary_key=True, autoincrement=False),
    Column("end", Integer, nullable=False),
    _text("kind"),
    sqlite_with_rowid=False,
)

derived_from = Table(
    "derived_from",
    metadata,
    *_edge(),
    Index("derived_from_parent", "tenant", "parent_kind", "parent_id"),
    sqlite_with_rowid=False,
)

bin_record = Table(
    "bin_record",
    metadata,
    *_scoped(),
    _id("id", primary_key=True),
    _id("removal_id"),
    _number("removed_from"),
    _text("cause"),
    _number("removed_at"),
    _number("purge_at"),
    _text("kind"),
    Column("session_id", LargeBinary(16)),
    Column("seq", BigInteger),
    Column("client_key", _TEXT),
    _number("recorded_at"),
    _number("text_bytes"),
    _text("content"),
    Index("bin_record_id", "tenant", "id"),
    Index("bin_record_removal", "tenant", "removed_from", "removal_id"),
    Index("bin_record_purge", "tenant", "purge_at"),
    sqlite_with_rowid=False,
)
Index(
    "bin_record_client_key",
    bin_record.c.tenant,
    bin_record.c.scope_id,
    bin_record.c.client_key,
    sqlite_where=bin_record.c.client_key.is_not(None),
)

bin_session = Table(
    "bin_session",
    metadata,
    *_session(),
    UniqueConstraint("tenant", "scope_id", "name", name="bin_session_name"),
    sqlite_with_rowid=False,
)

bin_derived_from = Table(
    "bin_derived_from",
    metadata,
    *_edge(),
    Index("bin_derived_from_parent", "tenant", "parent_id"),
    sqlite_with_rowid=False,
)

change = Table(
    "change",
    metadata,
    *_scoped(),
    _number("version", primary_key=True),
    Column("record_ids", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

job = Table(
    "job",
    metadata,
    _key("tenant"),
    _id("id", primary_key=True),
    _text("kind"),
    _number("scope_id"),
    Column("record_ids", LargeBinary, nullable=False),
    _text("state", default="queued"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("fence", Integer, nullable=False, server_default="0"),
    _number("next_at"),
    _number("created_at"),
    _text("error"),
    Index("job_due", "tenant", "state", "next_at"),
    sqlite_with_rowid=False,
)

due = Table(
    "due",
    metadata,
    _key("tenant"),
    _number("next_at"),
    sqlite_with_rowid=False,
)

erasure = Table(
    "erasure",
    metadata,
    _id("id", primary_key=True),
    _text("tenant"),
    _text("state", default="planned"),
    Column("scope_ids", LargeBinary, nullable=False),
    Column("record_ids", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

tombstone = Table(
    "tombstone",
    metadata,
    Column("source", LargeBinary, primary_key=True, nullable=False),
    _number("erased_at"),
    sqlite_with_rowid=False,
)

reader = Table(
    "reader",
    metadata,
    _id("id", primary_key=True),
    _text("process"),
    _number("started_at"),
    _number("lease_until"),
    sqlite_with_rowid=False,
)

notice = Table(
    "notice",
    metadata,
    _id("reader_id", primary_key=True),
    _id("erasure_id", primary_key=True),
    _number("sent_at"),
    Column("scopes", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

hold = Table(
    "hold",
    metadata,
    _key("tenant"),
    _id("id", primary_key=True),
    _number("scope_id"),
    _text("reason"),
    _number("created_at"),
    sqlite_with_rowid=False,
)

custody = Table(
    "custody",
    metadata,
    *_scoped(),
    _id("id", primary_key=True),
    _number("erased_at", primary_key=True),
    _id("hold_id"),
    _text("kind"),
    _text("content"),
    sqlite_with_rowid=False,
)

audit_head = Table(
    "audit_head",
    metadata,
    _key("tenant"),
    _number("seq"),
    _number("at"),
    Column("hash", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

audit_entry = Table(
    "audit_entry",
    metadata,
    _key("tenant"),
    _number("seq", primary_key=True),
    Column("entry", LargeBinary, nullable=False),
    Column("hash", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

access_grant = Table(
    "access_grant",
    metadata,
    _key("tenant"),
    _id("id", primary_key=True),
    _number("scope_id"),
    _number("to_scope"),
    _text("to_principal"),
    _text("rights"),
    _text("kinds"),
    _text("granted_by"),
    _number("granted_at"),
    _number("expires_at"),
    Column("revoked_at", BigInteger),
    sqlite_with_rowid=False,
)

tenant_setting = Table(
    "tenant_setting",
    metadata,
    _key("tenant"),
    _key("name"),
    _text("value"),
    sqlite_with_rowid=False,
)

model_usage = Table(
    "model_usage",
    metadata,
    _key("tenant"),
    _number("day", primary_key=True),
    _key("model"),
    _key("purpose"),
    _number("calls"),
    _number("tokens_in"),
    _number("tokens_out"),
    _number("cost"),
    sqlite_with_rowid=False,
)

for _record in (message, tool_call, document, item):
    Index(
        f"{_record.name}_expiry",
        _record.c.tenant,
        _record.c.expires_at,
        sqlite_where=_record.c.expires_at.is_not(None),
    )

content_key = Table(
    "content_key",
    metadata,
    *_scoped(),
    _id("key_id"),
    Column("wrapped", LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)

generation = Table(
    "generation",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    _text("identity"),
    _text("state"),
    _number("created_at"),
)
Index(
    "generation_in_use",  # at most one serves and at most one is being built, whoever opens the store at the same time
    generation.c.state,
    unique=True,
    sqlite_where=generation.c.state != "retired",
)

setting = Table(
    "setting",
    metadata,
    _key("name"),
    _text("value"),
)

TENANT_TABLES = tuple(table for table in metadata.sorted_tables if "tenant" in table.c and table not in (due, erasure))
"""Every table with personal data; `due` and `erasure` hold names of tenants and ids, and are read across tenants."""
