"""Python cells, inside a confined process. Standard library only, and nothing of the host's."""
