JSON.parse('['.repeat(5000000));
