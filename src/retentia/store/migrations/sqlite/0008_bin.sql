CREATE TABLE bin_record (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    removal_id BLOB NOT NULL,
    removed_from BIGINT NOT NULL,
    cause TEXT DEFAULT '' NOT NULL,
    removed_at BIGINT NOT NULL,
    purge_at BIGINT NOT NULL,
    kind TEXT DEFAULT '' NOT NULL,
    session_id BLOB,
    seq BIGINT,
    client_key TEXT,
    recorded_at BIGINT NOT NULL,
    text_bytes BIGINT NOT NULL,
    content TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (tenant, scope_id, id)
) WITHOUT ROWID;
CREATE INDEX bin_record_id ON bin_record (tenant, id);
CREATE INDEX bin_record_removal ON bin_record (tenant, removed_from, removal_id);
CREATE INDEX bin_record_purge ON bin_record (tenant, purge_at);
CREATE INDEX bin_record_client_key ON bin_record (tenant, scope_id, client_key) WHERE client_key IS NOT NULL;

CREATE TABLE bin_session (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    name TEXT DEFAULT '' NOT NULL,
    next_seq BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    ended_at BIGINT,
    metadata TEXT,
    PRIMARY KEY (tenant, scope_id, id),
    CONSTRAINT bin_session_name UNIQUE (tenant, scope_id, name)
) WITHOUT ROWID;

CREATE TABLE bin_derived_from (
    tenant TEXT NOT NULL,
    child_kind TEXT NOT NULL,
    child_id BLOB NOT NULL,
    parent_kind TEXT NOT NULL,
    parent_id BLOB NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    role TEXT DEFAULT 'evidence' NOT NULL,
    PRIMARY KEY (tenant, child_kind, child_id, parent_kind, parent_id, start)
) WITHOUT ROWID;
CREATE INDEX bin_derived_from_parent ON bin_derived_from (tenant, parent_id);
