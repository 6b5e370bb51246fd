"""Cells in Monty, a Python of its own in worker processes: for machines where processes cannot be confined."""
