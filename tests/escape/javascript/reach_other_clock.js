typeof performance === 'undefined' ? 'held' : 'ESCAPED'
