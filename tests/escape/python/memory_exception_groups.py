# ends: error | timeout | killed
group = ValueError("x" * 1_000_000)
for _ in range(40):
    group = ExceptionGroup("x" * 100_000, [group, group])
raise group
