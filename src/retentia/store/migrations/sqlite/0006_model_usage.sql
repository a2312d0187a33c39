CREATE TABLE model_usage (
    tenant TEXT NOT NULL,
    day BIGINT NOT NULL,
    model TEXT NOT NULL,
    purpose TEXT NOT NULL,
    calls BIGINT NOT NULL,
    tokens_in BIGINT NOT NULL,
    tokens_out BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    PRIMARY KEY (tenant, day, model, purpose)
) WITHOUT ROWID;
