typeof process === 'undefined' ? 'held' : `ESCAPED ${process.env}`
