CREATE TABLE summary (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    session_id BLOB NOT NULL,
    level INTEGER NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    id BLOB NOT NULL,
    text TEXT DEFAULT '' NOT NULL,
    made_by TEXT DEFAULT '' NOT NULL,
    messages INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    body TEXT,
    PRIMARY KEY (tenant, scope_id, session_id, level, first_seq)
) WITHOUT ROWID;

CREATE INDEX message_pinned ON message (tenant, scope_id, session_id, seq) WHERE pinned = 1;

ALTER TABLE message DROP COLUMN summarised_by;
