# ends: ok | error | timeout
exec("𝔁" * 10_000 + " = 1")
