CREATE TABLE scope (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    user TEXT DEFAULT '' NOT NULL,
    space TEXT DEFAULT '' NOT NULL,
    agent TEXT DEFAULT '' NOT NULL,
    version BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant, scope_id),
    CONSTRAINT scope_name UNIQUE (tenant, user, space, agent)
) WITHOUT ROWID;

CREATE TABLE session (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    name TEXT DEFAULT '' NOT NULL,
    next_seq BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    last_at BIGINT NOT NULL,
    ended_at BIGINT,
    metadata TEXT,
    PRIMARY KEY (tenant, scope_id, id),
    CONSTRAINT session_name UNIQUE (tenant, scope_id, name)
) WITHOUT ROWID;

CREATE TABLE message (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    seq BIGINT NOT NULL,
    role TEXT DEFAULT '' NOT NULL,
    speaker TEXT DEFAULT '' NOT NULL,
    text TEXT DEFAULT '' NOT NULL,
    parts TEXT,
    client_key TEXT,
    pinned INTEGER DEFAULT '0' NOT NULL,
    summarised_by BLOB,
    occurred_start BIGINT,
    occurred_end BIGINT,
    precision TEXT,
    zone TEXT DEFAULT '' NOT NULL,
    recorded_at BIGINT NOT NULL,
    trust TEXT DEFAULT 'person' NOT NULL,
    metadata TEXT,
    review_at BIGINT,
    expires_at BIGINT,
    PRIMARY KEY (tenant, scope_id, id),
    CONSTRAINT message_order UNIQUE (tenant, scope_id, session_id, seq)
) WITHOUT ROWID;

CREATE UNIQUE INDEX message_client_key ON message (tenant, scope_id, session_id, client_key) WHERE client_key IS NOT NULL;

CREATE TABLE tool_call (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    session_id BLOB NOT NULL,
    seq BIGINT NOT NULL,
    name TEXT DEFAULT '' NOT NULL,
    text TEXT DEFAULT '' NOT NULL,
    arguments TEXT,
    result TEXT,
    status TEXT DEFAULT 'ok' NOT NULL,
    error TEXT DEFAULT '' NOT NULL,
    duration_ms FLOAT,
    tokens BIGINT,
    client_key TEXT,
    occurred_start BIGINT,
    occurred_end BIGINT,
    precision TEXT,
    zone TEXT DEFAULT '' NOT NULL,
    recorded_at BIGINT NOT NULL,
    trust TEXT DEFAULT 'person' NOT NULL,
    metadata TEXT,
    review_at BIGINT,
    expires_at BIGINT,
    PRIMARY KEY (tenant, scope_id, id),
    CONSTRAINT tool_call_order UNIQUE (tenant, scope_id, session_id, seq)
) WITHOUT ROWID;

CREATE UNIQUE INDEX tool_call_client_key ON tool_call (tenant, scope_id, session_id, client_key) WHERE client_key IS NOT NULL;

CREATE TABLE document (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    title TEXT DEFAULT '' NOT NULL,
    uri TEXT DEFAULT '' NOT NULL,
    media_type TEXT DEFAULT '' NOT NULL,
    text TEXT DEFAULT '' NOT NULL,
    client_key TEXT,
    occurred_start BIGINT,
    occurred_end BIGINT,
    precision TEXT,
    zone TEXT DEFAULT '' NOT NULL,
    recorded_at BIGINT NOT NULL,
    trust TEXT DEFAULT 'person' NOT NULL,
    metadata TEXT,
    review_at BIGINT,
    expires_at BIGINT,
    PRIMARY KEY (tenant, scope_id, id),
    CONSTRAINT document_client_key UNIQUE (tenant, scope_id, client_key)
);

CREATE TABLE item (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    id BLOB NOT NULL,
    kind TEXT DEFAULT '' NOT NULL,
    text TEXT DEFAULT '' NOT NULL,
    content_key BLOB,
    status TEXT DEFAULT 'stated' NOT NULL,
    confidence FLOAT DEFAULT '1' NOT NULL,
    importance TEXT DEFAULT 'normal' NOT NULL,
    valid_from BIGINT,
    valid_to BIGINT,
    retracted_at BIGINT,
    seen_count INTEGER DEFAULT '1' NOT NULL,
    version INTEGER DEFAULT '1' NOT NULL,
    author TEXT DEFAULT '' NOT NULL,
    body TEXT,
    occurred_start BIGINT,
    occurred_end BIGINT,
    precision TEXT,
    zone TEXT DEFAULT '' NOT NULL,
    recorded_at BIGINT NOT NULL,
    trust TEXT DEFAULT 'person' NOT NULL,
    metadata TEXT,
    review_at BIGINT,
    expires_at BIGINT,
    PRIMARY KEY (tenant, scope_id, id),
    CONSTRAINT item_content UNIQUE (tenant, scope_id, kind, content_key)
) WITHOUT ROWID;

CREATE TABLE passage (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    record_id BLOB NOT NULL,
    part INTEGER NOT NULL,
    kind TEXT DEFAULT '' NOT NULL,
    thread BLOB NOT NULL,
    seq BIGINT NOT NULL,
    role TEXT DEFAULT '' NOT NULL,
    speaker TEXT DEFAULT '' NOT NULL,
    day INTEGER NOT NULL,
    occurred_start BIGINT NOT NULL,
    occurred_end BIGINT NOT NULL,
    flags INTEGER NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    stems BLOB NOT NULL,
    grams BLOB NOT NULL,
    PRIMARY KEY (tenant, scope_id, record_id, part)
) WITHOUT ROWID;

CREATE TABLE vector (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    generation INTEGER NOT NULL,
    record_id BLOB NOT NULL,
    part INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (tenant, scope_id, generation, record_id, part)
) WITHOUT ROWID;

CREATE TABLE derived_from (
    tenant TEXT NOT NULL,
    child_kind TEXT NOT NULL,
    child_id BLOB NOT NULL,
    parent_kind TEXT NOT NULL,
    parent_id BLOB NOT NULL,
    start INTEGER NOT NULL,
    "end" INTEGER NOT NULL,
    role TEXT DEFAULT 'evidence' NOT NULL,
    PRIMARY KEY (tenant, child_kind, child_id, parent_kind, parent_id, start)
) WITHOUT ROWID;

CREATE INDEX derived_from_parent ON derived_from (tenant, parent_kind, parent_id);

CREATE TABLE change (
    tenant TEXT NOT NULL,
    scope_id BIGINT NOT NULL,
    version BIGINT NOT NULL,
    record_ids BLOB NOT NULL,
    PRIMARY KEY (tenant, scope_id, version)
) WITHOUT ROWID;

CREATE TABLE job (
    tenant TEXT NOT NULL,
    id BLOB NOT NULL,
    kind TEXT DEFAULT '' NOT NULL,
    scope_id BIGINT NOT NULL,
    record_ids BLOB NOT NULL,
    state TEXT DEFAULT 'queued' NOT NULL,
    attempts INTEGER DEFAULT '0' NOT NULL,
    fence INTEGER DEFAULT '0' NOT NULL,
    next_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    error TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (tenant, id)
) WITHOUT ROWID;

CREATE INDEX job_due ON job (tenant, state, next_at);

CREATE TABLE due (
    tenant TEXT NOT NULL,
    next_at BIGINT NOT NULL,
    PRIMARY KEY (tenant)
) WITHOUT ROWID;

CREATE TABLE generation (
    id INTEGER NOT NULL,
    identity TEXT DEFAULT '' NOT NULL,
    state TEXT DEFAULT '' NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX generation_in_use ON generation (state) WHERE state != 'retired';

CREATE TABLE setting (
    name TEXT NOT NULL,
    value TEXT DEFAULT '' NOT NULL,
    PRIMARY KEY (name)
);
