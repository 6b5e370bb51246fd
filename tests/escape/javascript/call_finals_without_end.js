while (true) FINAL('x'.repeat(1000));
