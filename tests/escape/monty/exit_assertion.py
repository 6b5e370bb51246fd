assert False, 'x' * 10_000_000
