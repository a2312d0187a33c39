CREATE TABLE summary (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    session_id BYTEA NOT NULL,
    level INTEGER NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    id BYTEA NOT NULL,
    text TEXT COLLATE "C" DEFAULT '' NOT NULL,
    made_by TEXT COLLATE "C" DEFAULT '' NOT NULL,
    messages INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    body TEXT COLLATE "C",
    PRIMARY KEY (tenant, scope_id, session_id, level, first_seq)
);

CREATE INDEX message_pinned ON message (tenant, scope_id, session_id, seq) WHERE pinned = 1;

ALTER TABLE message DROP COLUMN summarised_by;

ALTER TABLE summary ENABLE ROW LEVEL SECURITY;
ALTER TABLE summary FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON summary USING (tenant = nullif(current_setting('app.tenant', true), ''));
