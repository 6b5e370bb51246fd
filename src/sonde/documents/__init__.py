"""Inputs of any size, read in place."""
