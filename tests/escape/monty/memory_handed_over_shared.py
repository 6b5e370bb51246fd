# Each level holds the one below it twice.
import os

deep = ["x"]
for _ in range(24):
    deep = [deep, deep]
os.getenv("x", deep)
