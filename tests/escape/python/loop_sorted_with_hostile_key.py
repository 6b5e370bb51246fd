class Never:
    def __lt__(self, other):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass


sorted([Never(), Never()])
