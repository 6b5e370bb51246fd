JSON.parse('[' + '[],'.repeat(10000000) + '0]');
