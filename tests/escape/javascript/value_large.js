FINAL('x'.repeat(15000000));
