# ends: killed | timeout | error
# The host collects the bytes of a frame until it is whole.
import os

os.write(3, (64 * 1024 * 1024).to_bytes(4, "little"))
while True:
    os.write(3, b" " * 65_536)
