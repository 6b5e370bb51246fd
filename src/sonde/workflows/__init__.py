"""Saved workflows: found by name or path, and read without running anything of them."""
