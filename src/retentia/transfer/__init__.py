"""Taking a memory elsewhere: export to a file, and import of what was exported."""
