# ends: killed | error
import marshal

exec(marshal.loads(marshal.dumps(compile("1", "x", "exec"))[:-20] + bytes(range(200, 220))))
