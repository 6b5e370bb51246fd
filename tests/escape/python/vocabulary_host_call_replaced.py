# ends: ok | error
from sonde.guest import vocabulary

vocabulary.host_call_now = vocabulary.host_call = lambda *given: "ESCAPE"
FINAL(1)
