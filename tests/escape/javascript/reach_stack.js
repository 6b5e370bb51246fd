let found = '';
try { null.x; } catch (error) { found = String(error.stack); }
/site-packages|\/root|\/home|\/usr/.test(found) ? `ESCAPED ${found}` : 'held'
