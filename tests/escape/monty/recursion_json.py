import json

nested = []
for _ in range(200_000):
    nested = [nested]
json.dumps(nested)
