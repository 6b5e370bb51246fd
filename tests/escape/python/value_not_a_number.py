# ends: ok | error
FINAL([float("nan"), float("inf"), -float("inf")])
