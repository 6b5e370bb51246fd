# ends: error MemoryError | timeout | killed
kept = None
while True:
    try:
        raise ValueError(bytearray(100_000))
    except ValueError as error:
        error.kept, kept = kept, error
