// ends: ok | error | killed
const kept = [];
try { for (;;) kept.push({ n: kept.length, m: [1] }); } catch {}
budget.remaining();
FINAL(kept.length);
