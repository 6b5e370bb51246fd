"""Pure folds of facts: what a run comes to, at any moment of it."""
