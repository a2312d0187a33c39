CREATE TABLE reader (
    id BYTEA NOT NULL,
    process TEXT COLLATE "C" DEFAULT '' NOT NULL,
    started_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE notice (
    reader_id BYTEA NOT NULL,
    erasure_id BYTEA NOT NULL,
    sent_at BIGINT NOT NULL,
    scopes BYTEA NOT NULL,
    PRIMARY KEY (reader_id, erasure_id)
);
