found = __import__('os')
found.system('true')
'ESCAPED'
