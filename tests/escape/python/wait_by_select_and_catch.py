# ends: killed | error | timeout
import select

while True:
    try:
        select.poll().poll()
    except BaseException:
        pass
