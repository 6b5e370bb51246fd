const found = (async () => {}).constructor('return typeof process + typeof require + typeof std')();
(await found) === 'undefinedundefinedundefined' ? 'held' : 'ESCAPED'
