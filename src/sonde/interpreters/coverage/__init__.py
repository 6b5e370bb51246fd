"""How much of its language each interpreter runs, by snippets of the kind that models write."""
