CREATE TABLE manifest (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    reply_id BYTEA NOT NULL,
    budget INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    counted TEXT COLLATE "C" DEFAULT '' NOT NULL,
    parts TEXT COLLATE "C" DEFAULT '' NOT NULL,
    missing INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope_id, reply_id)
);

CREATE TABLE manifest_entry (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    reply_id BYTEA NOT NULL,
    place INTEGER NOT NULL,
    record_id BYTEA,
    kind TEXT COLLATE "C" DEFAULT '' NOT NULL,
    part TEXT COLLATE "C" DEFAULT '' NOT NULL,
    label TEXT COLLATE "C" DEFAULT '' NOT NULL,
    score FLOAT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant, scope_id, reply_id, place)
);

CREATE INDEX manifest_entry_record ON manifest_entry (tenant, scope_id, record_id);

ALTER TABLE manifest ENABLE ROW LEVEL SECURITY;
ALTER TABLE manifest FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON manifest USING (tenant = nullif(current_setting('app.tenant', true), ''));

ALTER TABLE manifest_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE manifest_entry FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON manifest_entry USING (tenant = nullif(current_setting('app.tenant', true), ''));
