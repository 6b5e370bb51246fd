while (true) budget.remaining();
