input('')
'ESCAPED'
