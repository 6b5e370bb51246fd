import _thread

done = []
lock = _thread.allocate_lock()
lock.acquire()
_thread.start_new_thread(lambda: (done.append("ESCAPED"), lock.release()), ())
lock.acquire()
done
