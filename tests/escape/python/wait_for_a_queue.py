# ends: killed | error
import queue

queue.Queue().get()
