# ends: ok
import datetime
import time

names = ["time", "monotonic", "perf_counter", "process_time", "thread_time"]


def told():
    clocks = [getattr(time, name)() for name in names] + [getattr(time, f"{name}_ns")() for name in names]
    dates = [datetime.datetime.now(), datetime.datetime.utcnow(), datetime.date.today(), datetime.datetime.today()]
    return repr([clocks, dates, time.localtime(), time.gmtime(), time.ctime(), time.strftime("%c"), time.clock_gettime(0)])


before = told()
sum(range(3_000_000))
"held" if told() == before else "ESCAPED"
