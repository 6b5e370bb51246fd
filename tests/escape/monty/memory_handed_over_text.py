import os

os.getenv("x" * 40_000_000, "y" * 20_000_000)
