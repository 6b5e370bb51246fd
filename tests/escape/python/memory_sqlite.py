# ends: error | timeout | killed
import sqlite3

sqlite3.connect(":memory:").execute(
    "SELECT length(group_concat(hex(zeroblob(100000000)))) FROM (SELECT 1 UNION SELECT 2)"
).fetchone()
