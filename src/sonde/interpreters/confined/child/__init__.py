"""What runs inside the confined processes. Standard library only, and nothing of the host's."""
