CREATE TABLE audit_head (
    tenant TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    hash BYTEA NOT NULL,
    PRIMARY KEY (tenant)
);

CREATE TABLE audit_entry (
    tenant TEXT COLLATE "C" NOT NULL,
    seq BIGINT NOT NULL,
    entry BYTEA NOT NULL,
    hash BYTEA NOT NULL,
    PRIMARY KEY (tenant, seq)
);

CREATE TABLE access_grant (
    tenant TEXT COLLATE "C" NOT NULL,
    id BYTEA NOT NULL,
    scope_id BIGINT NOT NULL,
    to_scope BIGINT NOT NULL,
    to_principal TEXT COLLATE "C" DEFAULT '' NOT NULL,
    rights TEXT COLLATE "C" DEFAULT '' NOT NULL,
    kinds TEXT COLLATE "C" DEFAULT '' NOT NULL,
    granted_by TEXT COLLATE "C" DEFAULT '' NOT NULL,
    granted_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    PRIMARY KEY (tenant, id)
);

-- What is in the audit log stays: the owner of the table gives up its own rights to change it. An ordinary statement is
-- refused; a superuser, or an owner who grants the rights to itself again, is not, and the chain of hashes tells.
REVOKE UPDATE, DELETE, TRUNCATE ON audit_entry FROM CURRENT_USER;

ALTER TABLE access_grant ENABLE ROW LEVEL SECURITY;
ALTER TABLE access_grant FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON access_grant USING (tenant = nullif(current_setting('app.tenant', true), ''));

ALTER TABLE audit_entry ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_entry FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON audit_entry USING (tenant = nullif(current_setting('app.tenant', true), ''));

ALTER TABLE audit_head ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit_head FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON audit_head USING (tenant = nullif(current_setting('app.tenant', true), ''));
