FINAL([float("nan"), float("inf"), -float("inf")])
