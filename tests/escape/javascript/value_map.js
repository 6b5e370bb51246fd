FINAL(new Map([[1, 2]]));
