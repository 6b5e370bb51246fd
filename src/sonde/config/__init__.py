"""What users set for all their runs: configuration files, profiles, and agents in files."""
