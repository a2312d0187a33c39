CREATE TABLE hold (
    tenant TEXT NOT NULL,
    id BLOB NOT NULL,
    scope_id BIGINT NOT NULL,
    reason TEXT DEFAULT '' NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

CREATE TABLE custody (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    erased_at BIGINT NOT NULL,
    hold_id BLOB NOT NULL,
    kind TEXT DEFAULT '' NOT NULL,
    content TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (tenant, scope_id, id, erased_at)
) WITHOUT ROWID;
