FINAL('x'.repeat(40000000));
