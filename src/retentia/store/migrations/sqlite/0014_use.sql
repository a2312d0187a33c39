CREATE TABLE record_use (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    record_id BLOB NOT NULL,
    shown BIGINT NOT NULL,
    last_shown_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope_id, record_id)
) WITHOUT ROWID;
