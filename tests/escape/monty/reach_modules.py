import sys

'ESCAPED' if 'os' in sys.modules and hasattr(sys.modules['os'], 'system') else 'held'
