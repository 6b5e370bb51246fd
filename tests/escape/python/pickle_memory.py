# ends: error
import pickle

pickle.loads(b"\x80\x04r\xff\xff\xff\x7f" + b"X\xff\xff\xff\x7f" + b"." * 10)
