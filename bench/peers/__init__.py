"""The same work done with others' tools, each with a Python of its own (`make bench-peers`)."""
