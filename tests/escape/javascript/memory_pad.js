'x'.padStart(2 ** 30 - 1, 'ab');
