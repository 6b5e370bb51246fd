function* endless() { while (true) yield 1; }
await pipeline(endless(), (n) => n);
