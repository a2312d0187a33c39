CREATE TABLE content_key (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    key_id BLOB NOT NULL,
    wrapped BLOB NOT NULL,
    PRIMARY KEY (tenant, scope_id)
) WITHOUT ROWID;
