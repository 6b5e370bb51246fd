# ends: error
import linecache


class Odd(dict):
    def __getitem__(self, key):
        raise SystemExit

    get = __contains__ = __getitem__


linecache.cache = Odd()
1 / 0
