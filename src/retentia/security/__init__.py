"""Security: what must not be written is taken out before it is."""
