FINAL({ toJSON() { while (true) {} } });
