"""Python cells, in a separate clean CPython."""
