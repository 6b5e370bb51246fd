# ends: killed | error
import select

while True:
    try:
        select.poll().poll()
    except BaseException:
        pass
