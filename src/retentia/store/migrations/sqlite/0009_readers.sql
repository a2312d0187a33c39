CREATE TABLE reader (
    id BLOB NOT NULL,
    process TEXT DEFAULT '' NOT NULL,
    started_at BIGINT NOT NULL,
    lease_until BIGINT NOT NULL,
    PRIMARY KEY (id)
) WITHOUT ROWID;

CREATE TABLE notice (
    reader_id BLOB NOT NULL,
    erasure_id BLOB NOT NULL,
    sent_at BIGINT NOT NULL,
    scopes BLOB NOT NULL,
    PRIMARY KEY (reader_id, erasure_id)
) WITHOUT ROWID;
