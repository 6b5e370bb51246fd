"""A run's record as files for people and programs: folds of the journal, written anew whenever they are wanted."""
