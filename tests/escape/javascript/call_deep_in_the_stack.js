// ends: ok | error
let found;
function deeper() { try { deeper(); } catch { found ??= budget.remaining().calls; } }
deeper();
found
