"""Experience replay: which experiences bear on a task, what they teach, and whether that helps."""
