# ends: killed | timeout | error MemoryError
text = "ab" * 10_000_000
while True:
    text.replace("a", "bc").replace("bc", "a")
