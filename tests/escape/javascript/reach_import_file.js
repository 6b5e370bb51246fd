const found = await import('file:///etc/passwd');
'ESCAPED'
