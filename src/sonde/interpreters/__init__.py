"""Run code nobody has read. Isolation only: this room knows no model."""
