"""Fakes for tests, kept as a product: a scripted model, and a model server that injects faults."""
