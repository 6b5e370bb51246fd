"""The one content-addressed store."""
