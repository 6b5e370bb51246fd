const found = await import('data:text/javascript,export default 1');
found.default === 1 ? 'held' : 'ESCAPED'
