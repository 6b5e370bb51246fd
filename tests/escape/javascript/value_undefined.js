FINAL(undefined);
