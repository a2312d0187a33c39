CREATE TABLE personal_data (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    record_id BYTEA NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    kind TEXT COLLATE "C" DEFAULT '' NOT NULL,
    PRIMARY KEY (tenant, scope_id, record_id, start)
);

CREATE TABLE tenant_setting (
    tenant TEXT COLLATE "C" NOT NULL,
    name TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" DEFAULT '' NOT NULL,
    PRIMARY KEY (tenant, name)
);

CREATE INDEX message_expiry ON message (tenant, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX tool_call_expiry ON tool_call (tenant, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX document_expiry ON document (tenant, expires_at) WHERE expires_at IS NOT NULL;

CREATE INDEX item_expiry ON item (tenant, expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE personal_data ENABLE ROW LEVEL SECURITY;
ALTER TABLE personal_data FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON personal_data USING (tenant = nullif(current_setting('app.tenant', true), ''));

ALTER TABLE tenant_setting ENABLE ROW LEVEL SECURITY;
ALTER TABLE tenant_setting FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON tenant_setting USING (tenant = nullif(current_setting('app.tenant', true), ''));
