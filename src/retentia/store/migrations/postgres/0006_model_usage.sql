CREATE TABLE model_usage (
    tenant TEXT COLLATE "C" NOT NULL,
    day BIGINT NOT NULL,
    model TEXT COLLATE "C" NOT NULL,
    purpose TEXT COLLATE "C" NOT NULL,
    calls BIGINT NOT NULL,
    tokens_in BIGINT NOT NULL,
    tokens_out BIGINT NOT NULL,
    cost BIGINT NOT NULL,
    PRIMARY KEY (tenant, day, model, purpose)
);

ALTER TABLE model_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE model_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY tenant_wall ON model_usage USING (tenant = nullif(current_setting('app.tenant', true), ''));
