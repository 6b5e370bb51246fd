# ends: error
eval("(" * 100_000 + ")" * 100_000)
