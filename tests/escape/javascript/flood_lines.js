'x\n'.repeat(20000000)
