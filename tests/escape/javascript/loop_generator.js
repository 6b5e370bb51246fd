function* stubborn() { while (true) { try { yield 1; } finally { while (true) {} } } }
for (const _ of stubborn()) break;
