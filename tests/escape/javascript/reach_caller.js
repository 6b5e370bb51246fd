let found;
(function inner() { try { found = inner.caller ?? arguments.callee.caller; } catch {} })();
found ? `ESCAPED ${found}` : 'held'
