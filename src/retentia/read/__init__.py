"""Reading: plan, search in one scope, decide whether anything is relevant, read the rows again, explain."""
