ALTER TABLE tool_call ADD COLUMN full_bytes BIGINT;

CREATE TABLE tool_use (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    record_id BLOB NOT NULL,
    part INTEGER NOT NULL,
    kind TEXT DEFAULT '' NOT NULL,
    session_id BLOB NOT NULL,
    seq BIGINT NOT NULL,
    name TEXT,
    call_key BLOB,
    link_key BLOB,
    target_key BLOB,
    outcome_key BLOB,
    status TEXT DEFAULT '' NOT NULL,
    called_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope_id, record_id, part)
);

CREATE INDEX tool_use_name ON tool_use (tenant, scope_id, name, called_at) WHERE name IS NOT NULL;

CREATE INDEX tool_use_call_key ON tool_use (tenant, scope_id, call_key, called_at) WHERE call_key IS NOT NULL;

CREATE INDEX tool_use_link_key ON tool_use (tenant, scope_id, link_key, called_at) WHERE link_key IS NOT NULL;

CREATE INDEX tool_use_target_key ON tool_use (tenant, scope_id, target_key, called_at) WHERE target_key IS NOT NULL;
