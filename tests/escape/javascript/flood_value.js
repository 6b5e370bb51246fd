'x'.repeat(50000000)
