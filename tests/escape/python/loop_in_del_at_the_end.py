class Sticky:
    def __del__(self):
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass


sticky = Sticky()
del sticky
