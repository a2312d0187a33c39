"""Tools: which calls were made, whether to make one again, how values moved, what failed and why."""
