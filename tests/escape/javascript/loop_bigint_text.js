(1n << 20000000n).toString()
