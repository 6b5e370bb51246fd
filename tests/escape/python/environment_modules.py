# ends: ok
# Nothing of the host's is loaded where cells run.
import sys

hosts = ("msgspec", "aiohttp", "sonde.errors", "sonde.engine", "sonde.models", "sonde.journal", "sonde.limits")
found = [name for name in sys.modules if name.startswith(hosts)]
"ESCAPED" if found else "held"
