import json

text = json.dumps([{'a': [1, 2, 3]}] * 10_000)
while True:
    json.loads(text)
