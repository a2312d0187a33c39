"""Writing: admission, then one transaction."""
