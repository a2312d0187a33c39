CREATE TABLE hold (
    tenant TEXT COLLATE "C" NOT NULL,
    id BYTEA NOT NULL,
    scope_id BIGINT NOT NULL,
    reason TEXT COLLATE "C" DEFAULT '' NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
);

CREATE TABLE custody (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    id BYTEA NOT NULL,
    erased_at BIGINT NOT NULL,
    hold_id BYTEA NOT NULL,
    kind TEXT COLLATE "C" DEFAULT '' NOT NULL,
    content TEXT COLLATE "C" DEFAULT '' NOT NULL,
    PRIMARY KEY (tenant, scope_id, id, erased_at)
);

ALTER TABLE hold ENABLE ROW LEVEL SECURITY;
ALTER TABLE hold FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON hold USING (tenant = nullif(current_setting('app.tenant', true), ''));

ALTER TABLE custody ENABLE ROW LEVEL SECURITY;
ALTER TABLE custody FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON custody USING (tenant = nullif(current_setting('app.tenant', true), ''));
