"""Looking at a store's health and saying what to do."""
