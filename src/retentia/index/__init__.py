"""Index: what makes the stored rows findable. It does no IO; whoever owns the rows hands them in."""
