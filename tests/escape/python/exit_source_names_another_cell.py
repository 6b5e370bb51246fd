# ends: error
exec(compile("1 / 0", "<cell 1>" + "x" * 100_000, "exec"))
