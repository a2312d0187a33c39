"""What was learned goes with the words it was learned from, comes back with its history, and moves as it stands."""
