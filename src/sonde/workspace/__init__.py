"""The files that a run sees."""
