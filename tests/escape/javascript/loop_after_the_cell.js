(async () => { await null; for (;;) await null; })();
setTimeout(() => { while (true) {} }, 1);
1
