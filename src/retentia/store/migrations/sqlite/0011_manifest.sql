CREATE TABLE manifest (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    reply_id BLOB NOT NULL,
    budget INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    counted TEXT DEFAULT '' NOT NULL,
    parts TEXT DEFAULT '' NOT NULL,
    missing INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope_id, reply_id)
) WITHOUT ROWID;

CREATE TABLE manifest_entry (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    reply_id BLOB NOT NULL,
    place INTEGER NOT NULL,
    record_id BLOB,
    kind TEXT DEFAULT '' NOT NULL,
    part TEXT DEFAULT '' NOT NULL,
    label TEXT DEFAULT '' NOT NULL,
    score FLOAT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant, scope_id, reply_id, place)
) WITHOUT ROWID;

CREATE INDEX manifest_entry_record ON manifest_entry (tenant, scope_id, record_id);
