const found = Object.getPrototypeOf(Date);
typeof found.now === 'function' && found !== Function.prototype && Math.abs(found.now() - Date.now()) > 1000 ? 'ESCAPED: the clock' : 'held'
