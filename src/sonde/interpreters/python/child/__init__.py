"""What runs inside the separate interpreter. Standard library only, and nothing of the host's."""
