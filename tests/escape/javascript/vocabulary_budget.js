budget.total.calls = 1e9;
budget.spent = null;
budget.total.calls === 1e9 ? 'changed' : 'held'
