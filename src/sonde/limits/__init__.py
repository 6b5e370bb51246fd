"""What a run may spend, and how much it may do at once."""
