"""Working memory: what the model sees now, under a token budget."""
