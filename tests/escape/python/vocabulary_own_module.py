# ends: ok | error
from sonde.guest import vocabulary

for name in list(vars(vocabulary)):
    if not name.startswith("__"):
        delattr(vocabulary, name)
1
