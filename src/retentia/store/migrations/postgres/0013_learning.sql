CREATE TABLE claim (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    record_id BYTEA NOT NULL,
    subject_key BYTEA NOT NULL,
    attribute TEXT COLLATE "C" DEFAULT '' NOT NULL,
    value_key BYTEA NOT NULL,
    applies_key BYTEA NOT NULL,
    said_start BIGINT NOT NULL,
    said_end BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope_id, record_id)
);

CREATE INDEX claim_slot ON claim (tenant, scope_id, subject_key, attribute);

CREATE INDEX claim_value ON claim (tenant, scope_id, value_key, subject_key);

ALTER TABLE claim ENABLE ROW LEVEL SECURITY;
ALTER TABLE claim FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON claim USING (tenant = nullif(current_setting('app.tenant', true), ''));

CREATE TABLE revision (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    record_id BYTEA NOT NULL,
    version INTEGER NOT NULL,
    changed_at BIGINT NOT NULL,
    change TEXT COLLATE "C" DEFAULT '' NOT NULL,
    author TEXT COLLATE "C" DEFAULT '' NOT NULL,
    reason TEXT COLLATE "C" DEFAULT '' NOT NULL,
    cause_id BYTEA,
    before TEXT COLLATE "C",
    PRIMARY KEY (tenant, scope_id, record_id, version)
);

CREATE INDEX revision_cause ON revision (tenant, scope_id, cause_id);

ALTER TABLE revision ENABLE ROW LEVEL SECURITY;
ALTER TABLE revision FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON revision USING (tenant = nullif(current_setting('app.tenant', true), ''));
