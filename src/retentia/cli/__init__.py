"""The command line: thin commands over the verbs of Memory."""
