from pathlib import Path

Path('/tmp/escape-monty').write_text('x')
'ESCAPED'
