# ends: error RecursionError | error JSONDecodeError
import json

json.loads("[" * 5_000_000)
