# ends: error
import select

select.epoll()
"ESCAPED"
