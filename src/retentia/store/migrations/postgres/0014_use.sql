CREATE TABLE record_use (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    record_id BYTEA NOT NULL,
    shown BIGINT NOT NULL,
    last_shown_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope_id, record_id)
);

ALTER TABLE record_use ENABLE ROW LEVEL SECURITY;
ALTER TABLE record_use FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON record_use USING (tenant = nullif(current_setting('app.tenant', true), ''));
