# ends: killed | timeout
class Same:
    def __hash__(self):
        return 1


{Same(): n for n in range(1_000_000)}
