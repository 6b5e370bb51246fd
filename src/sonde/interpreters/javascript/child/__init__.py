"""What runs inside the confined process: the standard library and the engine, nothing of the host's."""
