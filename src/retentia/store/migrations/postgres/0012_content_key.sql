CREATE TABLE content_key (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    key_id BYTEA NOT NULL,
    wrapped BYTEA NOT NULL,
    PRIMARY KEY (tenant, scope_id)
);

ALTER TABLE content_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE content_key FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON content_key USING (tenant = nullif(current_setting('app.tenant', true), ''));
