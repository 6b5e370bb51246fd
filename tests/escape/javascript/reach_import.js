const found = await import('fs');
'ESCAPED' + Object.keys(found)
