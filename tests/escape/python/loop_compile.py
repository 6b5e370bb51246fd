# ends: killed | timeout | error
compile("x = " + "+".join(["1"] * 3_000_000), "big", "exec")
