# ends: ok | error
class Odd:
    def __del__(self):
        llm_query("from a destructor")


for _ in range(100):
    Odd()
odd = Odd()
odd.me = odd
1
