from pathlib import Path

'ESCAPED' if Path.home().exists() else 'held'
