const found = await import('https://127.0.0.1:9/x.js');
'ESCAPED'
