'x'.repeat(2 ** 29);
