// ends: error Deadlock
await { then() {} };
