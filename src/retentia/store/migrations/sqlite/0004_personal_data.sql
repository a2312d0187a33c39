CREATE TABLE personal_data (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    record_id BLOB NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    kind TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (tenant, scope_id, record_id, start)
) WITHOUT ROWID;

CREATE TABLE tenant_setting (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;

CREATE INDEX message_expiry ON message (tenant, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX tool_call_expiry ON tool_call (tenant, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX document_expiry ON document (tenant, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX item_expiry ON item (tenant, expires_at) WHERE expires_at IS NOT NULL;
