function* endless() { while (true) yield 1; }
for await (const value of pipeline(endless(), (n) => n));
