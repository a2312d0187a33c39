"""The rows: one schema on SQLite and PostgreSQL. Rows are truth; everything else is rebuilt from them."""
