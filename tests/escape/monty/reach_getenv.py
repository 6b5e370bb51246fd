import os

'ESCAPED' if os.getenv('HOME') else 'held'
