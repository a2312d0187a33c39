CREATE TABLE erasure (
    id BLOB NOT NULL,
    tenant TEXT DEFAULT '' NOT NULL,
    state TEXT DEFAULT 'planned' NOT NULL,
    scope_ids BLOB NOT NULL,
    record_ids BLOB NOT NULL,
    PRIMARY KEY (id)
) WITHOUT ROWID;

CREATE TABLE tombstone (
    source BLOB NOT NULL,
    erased_at BIGINT NOT NULL,
    PRIMARY KEY (source)
) WITHOUT ROWID;
