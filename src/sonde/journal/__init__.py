"""The run's record on disk. Storage only: what the facts mean is decided elsewhere."""
