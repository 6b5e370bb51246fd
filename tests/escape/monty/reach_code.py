found = (lambda: 1).__code__
'held'
