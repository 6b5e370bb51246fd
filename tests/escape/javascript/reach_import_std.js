const found = await import('std');
'ESCAPED' + Object.keys(found)
