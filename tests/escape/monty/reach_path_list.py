from pathlib import Path

'ESCAPED' if list(Path('/').iterdir()) else 'held'
