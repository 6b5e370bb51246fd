FINAL(() => 1);
