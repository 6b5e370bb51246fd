# ends: killed | timeout | error
import sqlite3

sqlite3.connect(":memory:").execute(
    "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT sum(n) FROM c"
).fetchone()
