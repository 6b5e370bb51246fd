# ends: error MemoryError
text = "x" * 1024
while True:
    text += text
