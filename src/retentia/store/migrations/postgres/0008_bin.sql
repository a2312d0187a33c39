CREATE TABLE bin_record (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    id BYTEA NOT NULL,
    removal_id BYTEA NOT NULL,
    removed_from BIGINT NOT NULL,
    cause TEXT COLLATE "C" DEFAULT '' NOT NULL,
    removed_at BIGINT NOT NULL,
    purge_at BIGINT NOT NULL,
    kind TEXT COLLATE "C" DEFAULT '' NOT NULL,
    session_id BYTEA,
    seq BIGINT,
    client_key TEXT COLLATE "C",
    recorded_at BIGINT NOT NULL,
    text_bytes BIGINT NOT NULL,
    content TEXT COLLATE "C" DEFAULT '' NOT NULL,
    PRIMARY KEY (tenant, scope_id, id)
);
CREATE INDEX bin_record_id ON bin_record (tenant, id);
CREATE INDEX bin_record_removal ON bin_record (tenant, removed_from, removal_id);
CREATE INDEX bin_record_purge ON bin_record (tenant, purge_at);
CREATE INDEX bin_record_client_key ON bin_record (tenant, scope_id, client_key) WHERE client_key IS NOT NULL;

CREATE TABLE bin_session (
    tenant TEXT COLLATE "C" NOT NULL,
    scope_id BIGINT NOT NULL,
    id BYTEA NOT NULL,
    name TEXT COLLATE "C" DEFAULT '' NOT NULL,
    next_seq BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    ended_at BIGINT,
    metadata TEXT COLLATE "C",
    PRIMARY KEY (tenant, scope_id, id),
    CONSTRAINT bin_session_name UNIQUE (tenant, scope_id, name)
);

CREATE TABLE bin_derived_from (
    tenant TEXT COLLATE "C" NOT NULL,
    child_kind TEXT COLLATE "C" NOT NULL,
    child_id BYTEA NOT NULL,
    parent_kind TEXT COLLATE "C" NOT NULL,
    parent_id BYTEA NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    role TEXT COLLATE "C" DEFAULT 'evidence' NOT NULL,
    PRIMARY KEY (tenant, child_kind, child_id, parent_kind, parent_id, start)
);
CREATE INDEX bin_derived_from_parent ON bin_derived_from (tenant, parent_id);

ALTER TABLE bin_record ENABLE ROW LEVEL SECURITY;
ALTER TABLE bin_record FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON bin_record USING (tenant = nullif(current_setting('app.tenant', true), ''));

ALTER TABLE bin_session ENABLE ROW LEVEL SECURITY;
ALTER TABLE bin_session FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON bin_session USING (tenant = nullif(current_setting('app.tenant', true), ''));

ALTER TABLE bin_derived_from ENABLE ROW LEVEL SECURITY;
ALTER TABLE bin_derived_from FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON bin_derived_from USING (tenant = nullif(current_setting('app.tenant', true), ''));
