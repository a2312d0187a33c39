CREATE TABLE erasure (
    id BYTEA NOT NULL,
    tenant TEXT COLLATE "C" DEFAULT '' NOT NULL,
    state TEXT COLLATE "C" DEFAULT 'planned' NOT NULL,
    scope_ids BYTEA NOT NULL,
    record_ids BYTEA NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE tombstone (
    source BYTEA NOT NULL,
    erased_at BIGINT NOT NULL,
    PRIMARY KEY (source)
);
