Function('return [' + '1,'.repeat(10000000) + ']')().length
