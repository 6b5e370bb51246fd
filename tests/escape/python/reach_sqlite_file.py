# ends: error
import os
import sqlite3

path = f"/tmp/escape-{os.getpid()}.db"
sqlite3.connect(path).execute("create table t (x)")
os.unlink(path)
"ESCAPED"
