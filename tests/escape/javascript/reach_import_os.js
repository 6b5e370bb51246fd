const found = await import('os');
'ESCAPED' + Object.keys(found)
