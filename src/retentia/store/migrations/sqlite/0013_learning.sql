CREATE TABLE claim (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    record_id BLOB NOT NULL,
    subject_key BLOB NOT NULL,
    attribute TEXT DEFAULT '' NOT NULL,
    value_key BLOB NOT NULL,
    applies_key BLOB NOT NULL,
    said_start BIGINT NOT NULL,
    said_end BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope_id, record_id)
) WITHOUT ROWID;

CREATE INDEX claim_slot ON claim (tenant, scope_id, subject_key, attribute);

CREATE INDEX claim_value ON claim (tenant, scope_id, value_key, subject_key);

CREATE TABLE revision (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    record_id BLOB NOT NULL,
    version INTEGER NOT NULL,
    changed_at BIGINT NOT NULL,
    change TEXT DEFAULT '' NOT NULL,
    author TEXT DEFAULT '' NOT NULL,
    reason TEXT DEFAULT '' NOT NULL,
    cause_id BLOB,
    before TEXT,
    PRIMARY KEY (tenant, scope_id, record_id, version)
) WITHOUT ROWID;

CREATE INDEX revision_cause ON revision (tenant, scope_id, cause_id);
