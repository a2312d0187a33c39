"""Learning: from messages to candidates, from candidates to what is believed (extract, ground, reconcile, apply)."""
