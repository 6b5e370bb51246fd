FINAL(10n ** 100n);
