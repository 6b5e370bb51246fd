# ends: killed | timeout | error
import sonde.interpreters.python.child.cell as cell

cell.Timeout = lambda *given: None
while True:
    pass
