JSON.stringify(Array(1000000).fill([1]), null, '          ').length
