"""Speak to language models. Knows no run and no task."""
