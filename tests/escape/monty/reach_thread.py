import threading

done = []
thread = threading.Thread(target=lambda: done.append("ESCAPED"))
thread.start()
thread.join()
done
