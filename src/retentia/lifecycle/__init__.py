"""The life of a record after it was written: what is derived from it, how it is rebuilt, how it goes."""
