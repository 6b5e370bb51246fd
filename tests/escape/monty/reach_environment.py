import os

'ESCAPED' if os.environ.get('PATH') or os.environ.get('ESCAPE_SECRET') else 'held'
