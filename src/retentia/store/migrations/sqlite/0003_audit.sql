CREATE TABLE audit_head (
    tenant TEXT NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (tenant)
) WITHOUT ROWID;

CREATE TABLE audit_entry (
    tenant TEXT NOT NULL,
    seq BIGINT NOT NULL,
    entry BLOB NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (tenant, seq)
) WITHOUT ROWID;

CREATE TABLE access_grant (
    tenant TEXT NOT NULL,
    id BLOB NOT NULL,
    scope_id BIGINT NOT NULL,
    to_scope BIGINT NOT NULL,
    to_principal TEXT DEFAULT '' NOT NULL,
    rights TEXT DEFAULT '' NOT NULL,
    kinds TEXT DEFAULT '' NOT NULL,
    granted_by TEXT DEFAULT '' NOT NULL,
    granted_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    revoked_at BIGINT,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

-- What is in the audit log stays. Whoever drops these triggers is told on by the chain of hashes.
CREATE TRIGGER audit_entry_is_not_changed BEFORE UPDATE ON audit_entry BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_entry_is_not_removed BEFORE DELETE ON audit_entry BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
