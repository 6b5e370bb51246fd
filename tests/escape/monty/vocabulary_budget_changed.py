budget.total.calls = 10**9
budget.total = None
budget.spent = lambda: None
1
