// ends: error OutOfMemory
var kept = { before: null };
for (;;) kept = { before: kept };
