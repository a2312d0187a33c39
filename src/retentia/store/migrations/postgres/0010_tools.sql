ALTER TABLE tool_call ADD COLUMN full_bytes BIGINT;

CREATE TABLE tool_use (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    record_id BYTEA NOT NULL,
    part INTEGER NOT NULL,
    kind TEXT COLLATE "C" DEFAULT '' NOT NULL,
    session_id BYTEA NOT NULL,
    seq BIGINT NOT NULL,
    name TEXT COLLATE "C",
    call_key BYTEA,
    link_key BYTEA,
    target_key BYTEA,
    outcome_key BYTEA,
    status TEXT COLLATE "C" DEFAULT '' NOT NULL,
    called_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope_id, record_id, part)
);

CREATE INDEX tool_use_name ON tool_use (tenant, scope_id, name, called_at) WHERE name IS NOT NULL;

CREATE INDEX tool_use_call_key ON tool_use (tenant, scope_id, call_key, called_at) WHERE call_key IS NOT NULL;

CREATE INDEX tool_use_link_key ON tool_use (tenant, scope_id, link_key, called_at) WHERE link_key IS NOT NULL;

CREATE INDEX tool_use_target_key ON tool_use (tenant, scope_id, target_key, called_at) WHERE target_key IS NOT NULL;

ALTER TABLE tool_use ENABLE ROW LEVEL SECURITY;
ALTER TABLE tool_use FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON tool_use USING (tenant = nullif(current_setting('app.tenant', true), ''));
