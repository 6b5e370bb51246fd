import pathlib

"ESCAPED" if pathlib.Path("/etc/passwd").exists() else "held"
